@preconcurrency import Glibc
import Synchronization

/// Questions to the machine that may never be answered: to a directory server about users, to a dead mount about a path.
///
/// Each is asked on a thread of its own, which is given up when the answer does not come. Nobody asks about a subject
/// again while an earlier question about it is open, so that a daemon that looks again and again keeps few threads.
enum Patience {
  /// How long an answer may take, and how long once several others do not come.
  static let bound = Duration.seconds(2)
  private static let shortBound = Duration.milliseconds(200)
  private static let fewOpen = 3
  /// The most threads that are given up at a time; beyond it every question counts as unanswered.
  private static let mostOpen = 16
  private static let open = Mutex<Set<String>>([])

  /// Asks a question; nil if it is not answered in time.
  ///
  /// - Parameter subject: what the question is about; an open question about it stands for all others.
  static func ask<Answer: Sendable>(
    about subject: String, _ question: @escaping @Sendable () -> Answer
  ) -> Answer? {
    let count = open.withLock { $0.contains(subject) ? mostOpen : $0.count }
    guard count < mostOpen else { return nil }
    let asked = Asked(question)
    guard asked.start() else { return question() }
    if let answer = asked.wait(for: count < fewOpen ? bound : shortBound) { return answer }
    open.withLock { _ = $0.insert(subject) }
    asked.whenLate { open.withLock { _ = $0.remove(subject) } }
    return nil
  }
}

/// A question and its thread.
private final class Asked<Answer: Sendable>: @unchecked Sendable {
  // @unchecked: the variables are used with `lock` held, and nothing else is shared.

  private let question: @Sendable () -> Answer
  private let lock: UnsafeMutablePointer<pthread_mutex_t> = .allocate(capacity: 1)
  private let arrival: UnsafeMutablePointer<pthread_cond_t> = .allocate(capacity: 1)
  private var answer: Answer?
  private var onLate: (@Sendable () -> Void)?

  init(_ question: @escaping @Sendable () -> Answer) {
    self.question = question
    pthread_mutex_init(lock, nil)
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(arrival, &attributes)
    pthread_condattr_destroy(&attributes)
  }

  deinit {
    pthread_cond_destroy(arrival)
    arrival.deallocate()
    pthread_mutex_destroy(lock)
    lock.deallocate()
  }

  /// Asks on a thread of its own; false if there is none.
  func start() -> Bool {
    var attributes = pthread_attr_t()
    guard pthread_attr_init(&attributes) == 0 else { return false }
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    let job = Unmanaged.passRetained(Job { [self] in ask() })
    var thread = pthread_t()
    let code = pthread_create(
      &thread, &attributes,
      { job in
        // A signal to the daemon is for its loop alone.
        var all = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_BLOCK, &all, nil)
        if let job { Unmanaged<Job>.fromOpaque(job).takeRetainedValue().run() }
        return nil
      }, job.toOpaque())
    if code != 0 { job.release() }
    return code == 0
  }

  /// Waits for the answer; nil if it does not come in time.
  func wait(for bound: Duration) -> Answer? {
    var end = timespec()
    clock_gettime(CLOCK_MONOTONIC, &end)
    let (seconds, attoseconds) = bound.components
    end.tv_nsec += Int(attoseconds / 1_000_000_000)
    end.tv_sec += Int(seconds) + end.tv_nsec / 1_000_000_000
    end.tv_nsec %= 1_000_000_000
    return locked {
      while answer == nil, pthread_cond_timedwait(arrival, lock, &end) != ETIMEDOUT {}
      return answer
    }
  }

  /// Calls back when the answer comes after all; at once if it has come.
  func whenLate(_ onLate: @escaping @Sendable () -> Void) {
    let isAnswered = locked {
      self.onLate = onLate
      return answer != nil
    }
    if isAnswered { onLate() }
  }

  private func ask() {
    let answer = question()
    let onLate = locked {
      self.answer = answer
      pthread_cond_signal(arrival)
      return self.onLate
    }
    onLate?()
  }

  private func locked<Value>(_ body: () -> Value) -> Value {
    pthread_mutex_lock(lock)
    defer { pthread_mutex_unlock(lock) }
    return body()
  }
}

/// The work of a thread.
private final class Job {
  let run: () -> Void

  init(_ run: @escaping () -> Void) { self.run = run }
}
