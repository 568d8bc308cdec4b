import RefreshEngine
import RefreshStore
import Systemd

/// Reads of the store that end in time: a disk that hangs keeps no caller waiting.
final class StoreReads {
  /// How long a read may take.
  static let patience = Duration.seconds(1)

  typealias Answer<Value> = (Result<Value, StoreError>) -> Void

  private struct Waiting {
    let until: Instant
    let giveUp: () -> Void
  }

  private unowned let core: DaemonCore
  private let store: any DaemonStore
  private let path: String
  /// The problem for which no read is tried; set once.
  var silence: () -> StoreError? = { nil }
  private var waiting: [Int: Waiting] = [:]
  private var last = 0
  /// How many reads were given up and are not answered yet.
  private var unanswered = 0
  private var timer: (any WakeTimer)?

  init(_ core: DaemonCore, _ store: any DaemonStore, path: String) {
    (self.core, self.store, self.path) = (core, store, path)
  }

  func open() throws(SystemdError) {
    timer = try core.scheduler.timer { [unowned self] in giveUpOverdue() }
  }

  func past(of app: AppID, limit: Int, then answer: @escaping Answer<AppPast>) {
    read(answer) { store.past(of: app, limit: limit, then: $0) }
  }

  func openings(of app: AppID, then answer: @escaping Answer<[Int64]>) {
    read(answer) { store.openings(of: app, then: $0) }
  }

  func lastRefreshes(then answer: @escaping Answer<[AppID: StoredRefresh]>) {
    read(answer) { store.lastRefreshes(then: $0) }
  }

  /// Answers with what is read, or with the reason why the store does not answer.
  private func read<Value>(
    _ answer: @escaping Answer<Value>, _ begin: (@escaping Answer<Value>) -> Void
  ) {
    if let problem = silence() ?? (unanswered > 0 ? overdue : nil) { return answer(.failure(problem)) }
    last += 1
    let number = last
    waiting[number] = Waiting(until: core.now + Self.patience) { [overdue] in answer(.failure(overdue)) }
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

  private var overdue: StoreError { .unanswered(.read, path: path, after: Self.patience) }

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
