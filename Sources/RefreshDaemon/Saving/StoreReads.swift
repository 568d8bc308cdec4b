import RefreshEngine
import RefreshStore
import Systemd

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

  /// Notes a problem of a read; true if it differs from the last read's problem.
  func isNews(_ problem: StoreError) -> Bool {
    defer { failure = problem }
    return failure != problem
  }

  /// The problem that makes reads useless.
  private var silence: StoreError? { saving.problem.flatMap { $0.code == .unanswered ? $0 : nil } }

  private var overdue: StoreError { .unanswered(.read, path: path, after: Self.patience) }
}
