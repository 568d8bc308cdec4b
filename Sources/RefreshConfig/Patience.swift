import CLinux
@preconcurrency import Glibc
import Synchronization
import Threads

/// Asks the machine questions that it may never answer: a directory server about users, a dead mount about a path.
///
/// Each question has its own thread, which is abandoned if the answer does not come in time. While a subject has an open
/// question, it gets no other one, so that a daemon that keeps looking abandons only a few threads.
enum Patience {
  /// How long an answer may take, and how long it may take once several answers are missing.
  static let bound = Duration.seconds(2)
  private static let shortBound = Duration.milliseconds(200)
  private static let fewOpen = 3
  /// The most abandoned threads; once there are as many, every question counts as unanswered.
  private static let mostOpen = 16
  private static let open = Mutex<Set<String>>([])

  /// Asks a question; nil if the answer does not come in time, or no thread is left.
  ///
  /// A subject may have only one open question.
  static func ask<Answer: Sendable>(
    about subject: String, _ question: @escaping @Sendable () -> Answer
  ) -> Answer? {
    let count = open.withLock { $0.contains(subject) ? mostOpen : $0.count }
    guard count < mostOpen else { return nil }
    let asked = Asked(question)
    guard asked.start() else { return nil }
    if let answer = asked.wait(for: count < fewOpen ? bound : shortBound) { return answer }
    open.withLock { _ = $0.insert(subject) }
    asked.whenLate { open.withLock { _ = $0.remove(subject) } }
    return nil
  }
}

/// A question and its thread.
private final class Asked<Answer: Sendable>: Sendable {
  private struct Reply {
    var answer: Answer?
    var onLate: (@Sendable () -> Void)?
  }

  private let question: @Sendable () -> Answer
  private let reply = Mutex(Reply())
  /// Posted once, when the answer has come.
  private nonisolated(unsafe) let arrival: UnsafeMutablePointer<sem_t> = .allocate(capacity: 1)

  init(_ question: @escaping @Sendable () -> Answer) {
    self.question = question
    sem_init(arrival, 0, 0)
  }

  deinit {
    sem_destroy(arrival)
    arrival.deallocate()
  }

  /// Asks on its own thread; false if no thread is left.
  func start() -> Bool { DetachedThread.begin { [self] in ask() } == 0 }

  /// Waits for the answer; nil if it does not come in time.
  func wait(for bound: Duration) -> Answer? {
    var end = timespec()
    clock_gettime(CLOCK_MONOTONIC, &end)
    let (seconds, attoseconds) = bound.components
    end.tv_nsec += Int(attoseconds / 1_000_000_000)
    end.tv_sec += Int(seconds) + end.tv_nsec / 1_000_000_000
    end.tv_nsec %= 1_000_000_000
    while linux_semaphore_wait(arrival, &end) != 0 {
      guard errno == EINTR else { return nil }
    }
    return reply.withLock { $0.answer }
  }

  /// Calls back when a late answer comes; at once if it has come.
  func whenLate(_ onLate: @escaping @Sendable () -> Void) {
    let isAnswered = reply.withLock {
      $0.onLate = onLate
      return $0.answer != nil
    }
    if isAnswered { onLate() }
  }

  private func ask() {
    let answer = question()
    let onLate = reply.withLock {
      $0.answer = answer
      return $0.onLate
    }
    sem_post(arrival)
    onLate?()
  }
}
