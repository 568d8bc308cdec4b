import RefreshEngine
import Systemd

/// Bounded reads: a silent source keeps no caller waiting.
final class BoundedReads {
  private unowned let core: DaemonCore
  private let patience: Duration
  private var waiting: [Int: (until: Instant, giveUp: () -> Void)] = [:]
  private var last = 0
  /// How many given-up reads have no answer yet.
  private(set) var unanswered = 0
  private var timer: (any WakeTimer)?

  /// Makes the reads, each of which may take as long as `patience`.
  init(_ core: DaemonCore, patience: Duration) { (self.core, self.patience) = (core, patience) }

  func open() throws(SystemdError) {
    timer = try core.scheduler.timer { [unowned self] in giveUpOverdue() }
  }

  /// Begins a read, and passes on its answer or gives it up; a later answer is dropped.
  func read<Answer>(
    _ begin: (@escaping (Answer) -> Void) -> Void, then answer: @escaping (Answer) -> Void,
    giveUp: @escaping () -> Void
  ) {
    last += 1
    let number = last
    waiting[number] = (core.now + patience, giveUp)
    begin { [unowned self] result in
      guard waiting.removeValue(forKey: number) != nil else {
        unanswered -= 1
        return
      }
      arm()
      answer(result)
    }
    arm()
  }

  private func giveUpOverdue() {
    let now = core.now
    for (number, read) in waiting.sorted(by: { $0.key < $1.key }) where read.until <= now {
      waiting[number] = nil
      unanswered += 1
      read.giveUp()
    }
    arm()
  }

  private func arm() {
    guard let next = waiting.values.map(\.until).min() else {
      timer?.disarm()
      return
    }
    timer?.arm(at: next.microseconds, accuracy: 1000)
  }
}
