import RefreshAPI
import RefreshEngine
import Systemd
import Varlink

/// The processes that move files: one for each app that has any to move.
///
/// ```
/// starting -> working -> finishing -> asked -> killed -> (ended)
/// ```
///
/// From every stage one may end, and those that stay silent go on to `asked` by themselves.
struct TransferWorkers {
  typealias WorkCall = Call<WorkerInterface.Work.Parameters>

  /// How far a worker is on its way to its end.
  enum Stage {
    /// It has not asked for work yet.
    case starting
    /// It takes orders.
    case working
    /// Nothing is left for it, and it was told so, or its connection is gone.
    case finishing
    /// It was asked to end: SIGTERM.
    case asked
    /// It was killed.
    case killed
  }

  /// One of them.
  struct Worker {
    let key: TaskKey
    let app: AppID
    let token: String
    let timer: TimerSource
    var stage = Stage.starting
    /// The call that orders are given on; nil when it has none.
    var call: WorkCall?
    /// What it has not been told yet.
    var orders: [Wire.Order] = []
    /// The transfers that it has, or is to stop.
    var given: Set<TransferID> = []
    /// Those of them that it was told to stop.
    var stopping: Set<TransferID> = []
    /// How many bytes it may move in a second, as it was told; nil when it was told nothing.
    var rate: Int64?

    /// Whether it takes more work.
    var isOpen: Bool {
      switch stage {
      case .starting, .working: true
      case .finishing, .asked, .killed: false
      }
    }
  }

  private(set) var all: [TaskKey: Worker] = [:]
  private var keys: [String: TaskKey] = [:]

  var isEmpty: Bool { all.isEmpty }

  subscript(key: TaskKey) -> Worker? {
    get { all[key] }
    set {
      if let old = all[key], newValue == nil { keys[old.token] = nil }
      all[key] = newValue
      if let newValue { keys[newValue.token] = key }
    }
  }

  /// The one that was started with a token.
  func worker(of token: String) -> Worker? { keys[token].flatMap { all[$0] } }

  /// The one of an app that takes more work.
  func open(of app: AppID) -> Worker? { all.values.first { $0.app == app && $0.isOpen } }

  /// The one that has a transfer.
  func holder(of transfer: TransferID) -> Worker? { all.values.first { $0.given.contains(transfer) } }
}
