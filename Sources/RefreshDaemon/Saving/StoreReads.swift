import RefreshEngine
import RefreshStore
import Systemd

/// Reads of the store that end in time: a disk that hangs keeps no caller waiting.
final class StoreReads {
  /// How long a read may take.
  static let patience = Duration.seconds(1)

  private let store: any DaemonStore
  private let path: String
  /// The problem for which no read is tried; set once.
  var silence: () -> StoreError? = { nil }
  private let reads: BoundedReads
  /// The problem of the last read; nil when that succeeded.
  private var failure: StoreError?

  init(_ core: DaemonCore, _ store: any DaemonStore, path: String) {
    (self.store, self.path, reads) = (store, path, BoundedReads(core, patience: Self.patience))
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

  /// Answers with what is read, or with the reason why the store does not answer.
  private func read<Value>(
    _ answer: @escaping StoreAnswer<Value>, _ begin: (@escaping StoreAnswer<Value>) -> Void
  ) {
    let answer = { [self] (result: Result<Value, StoreError>) in
      if case .success = result { failure = nil }
      answer(result)
    }
    if let problem = silence() ?? (reads.unanswered > 0 ? overdue : nil) { return answer(.failure(problem)) }
    reads.read(begin, then: answer) { [overdue] in answer(.failure(overdue)) }
  }

  /// Takes note of a problem of a read, and gives whether it is another than that of the read before.
  func isNews(_ problem: StoreError) -> Bool {
    defer { failure = problem }
    return failure != problem
  }

  private var overdue: StoreError { .unanswered(.read, path: path, after: Self.patience) }
}
