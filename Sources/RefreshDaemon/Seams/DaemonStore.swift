import RefreshEngine
import RefreshStore

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
