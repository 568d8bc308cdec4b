import RefreshAPI
import RefreshEngine
import Systemd
import Varlink

/// The workers that run, by task and by token.
///
/// ```
/// starting -> working -> finishing -> asked -> killed -> (ended)
/// ```
///
/// A worker may end at every stage; a silent one goes on to `asked` by itself.
struct TransferWorkers {
  typealias WorkCall = Call<WorkerInterface.Work.Parameters>

  enum Stage {
    /// It has not asked for work yet.
    case starting
    /// It accepts orders.
    case working
    /// It was told that nothing is left for it, or its connection is gone.
    case finishing
    /// It was asked to end: SIGTERM.
    case asked
    /// It was killed.
    case killed
  }

  struct Worker {
    let key: TaskKey
    let app: AppID
    let token: String
    let timer: any WakeTimer
    var stage = Stage.starting
    /// The call by which orders are sent; nil while there is none.
    var call: WorkCall?
    /// The orders that are not sent yet.
    var orders: [Wire.Order] = []
    /// The transfers that the worker moves or is to stop.
    var given: Set<TransferID> = []
    /// The transfers that it was told to stop.
    var stopping: Set<TransferID> = []
    /// The bytes a second that it was told it may move; nil if there is no limit.
    var rate: Int64?

    /// Whether it accepts more work.
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

  /// The worker that was started with a token.
  func worker(of token: String) -> Worker? { keys[token].flatMap { all[$0] } }

  /// The worker of an app that accepts more work.
  func open(of app: AppID) -> Worker? { all.values.first { $0.app == app && $0.isOpen } }

  /// The worker that has a transfer.
  func holder(of transfer: TransferID) -> Worker? { all.values.first { $0.given.contains(transfer) } }
}
