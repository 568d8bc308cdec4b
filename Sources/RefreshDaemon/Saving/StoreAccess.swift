import RefreshEngine
import RefreshStore
import Systemd

/// Takes a result of the store: a value or an error.
typealias StoreAnswer<Value> = (Result<Value, StoreError>) -> Void

/// The store for the daemon: every answer comes later, on the daemon's thread.
///
/// ``ThreadedStore`` is the real store; a test gives a store that is slow or refuses.
protocol DaemonStore: AnyObject {
  /// Saves a batch, and answers with the pushes left out because their messages were accepted before.
  func save(_ batch: Batch, durably: Bool, then answer: @escaping StoreAnswer<Set<PushID>>)
  /// Reads the newest refreshes, waits and dropped pushes of an app, `limit` of each.
  func past(of app: AppID, limit: Int, then answer: @escaping StoreAnswer<AppPast>)
  /// Reads when the user had an app in the foreground, newest first.
  func openings(of app: AppID, then answer: @escaping StoreAnswer<[StoredOpening]>)
  /// Reads the newest refresh of each app.
  func lastRefreshes(then answer: @escaping StoreAnswer<[AppID: StoredRefresh]>)
  func close(then answer: @escaping () -> Void)
}

/// The history of an app, newest first.
struct AppPast: Sendable {
  let refreshes: [StoredRefresh]
  let waits: [StoredWait]
  let dropped: [StoredDroppedPush]
}

/// The store on its own thread.
final class ThreadedStore: DaemonStore {
  private let store: RefreshStore
  private let tasks: LoopTasks

  init(_ store: RefreshStore, _ tasks: LoopTasks) { (self.store, self.tasks) = (store, tasks) }

  func save(_ batch: Batch, durably: Bool, then answer: @escaping StoreAnswer<Set<PushID>>) {
    run(answer) { store throws(StoreError) in try store.save(batch, durably: durably) }
  }

  func past(of app: AppID, limit: Int, then answer: @escaping StoreAnswer<AppPast>) {
    run(answer) { store throws(StoreError) in
      AppPast(
        refreshes: try store.history(of: app, limit: limit), waits: try store.waits(of: app, limit: limit),
        dropped: try store.droppedPushes(of: app, limit: limit))
    }
  }

  func openings(of app: AppID, then answer: @escaping StoreAnswer<[StoredOpening]>) {
    run(answer) { store throws(StoreError) in try store.openings(of: app) }
  }

  func lastRefreshes(then answer: @escaping StoreAnswer<[AppID: StoredRefresh]>) {
    run(answer) { store throws(StoreError) in try store.lastRefreshes() }
  }

  func close(then answer: @escaping () -> Void) {
    tasks.run({ [store] _ in await store.close() }, then: answer)
  }

  private func run<Value: Sendable>(
    _ answer: @escaping StoreAnswer<Value>,
    _ work: @escaping @Sendable (isolated RefreshStore) throws(StoreError) -> Value
  ) {
    tasks.run(
      { [store] _ async -> Result<Value, StoreError> in
        do throws(StoreError) { return .success(try await work(store)) } catch { return .failure(error) }
      }, then: answer)
  }
}

/// Bounded reads of the store: a hanging disk keeps no caller waiting.
final class StoreReads {
  /// How long a read may take.
  static let patience = Duration.seconds(1)

  private let store: any DaemonStore
  private let path: String
  private unowned let saving: Saving
  private let reads: BoundedReads
  /// The problem of the last read; nil if it succeeded.
  private var failure: StoreError?

  init(_ core: DaemonCore, _ store: any DaemonStore, path: String, for saving: Saving) {
    (self.store, self.path, self.saving) = (store, path, saving)
    reads = BoundedReads(core, patience: Self.patience)
  }

  func open() throws(SystemdError) { try reads.open() }

  func past(of app: AppID, limit: Int, then answer: @escaping StoreAnswer<AppPast>) {
    read(answer) { store.past(of: app, limit: limit, then: $0) }
  }

  func openings(of app: AppID, then answer: @escaping StoreAnswer<[StoredOpening]>) {
    read(answer) { store.openings(of: app, then: $0) }
  }

  func lastRefreshes(then answer: @escaping StoreAnswer<[AppID: StoredRefresh]>) {
    read(answer) { store.lastRefreshes(then: $0) }
  }

  /// Answers with the value that was read, or with the error.
  private func read<Value>(
    _ answer: @escaping StoreAnswer<Value>, _ begin: (@escaping StoreAnswer<Value>) -> Void
  ) {
    let answer = { [self] (result: Result<Value, StoreError>) in
      if case .success = result { failure = nil }
      answer(result)
    }
    if let problem = silence ?? (reads.unanswered > 0 ? overdue : nil) { return answer(.failure(problem)) }
    reads.read(begin, then: answer) { [overdue] in answer(.failure(overdue)) }
  }

  /// Records a problem of a read; true if it differs from the last read's problem.
  func isNews(_ problem: StoreError) -> Bool {
    defer { failure = problem }
    return failure != problem
  }

  /// The problem that makes reads useless.
  private var silence: StoreError? { saving.problem.flatMap { $0.code == .unanswered ? $0 : nil } }

  private var overdue: StoreError { .unanswered(.read, path: path, after: Self.patience) }
}

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
