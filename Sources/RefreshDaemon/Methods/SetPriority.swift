import RefreshAPI
import RefreshEngine
import Varlink

extension Daemon {
  /// Sets which transfers go first (FEATURES F7).
  func setPriority(_ call: Call<TransfersInterface.SetPriority.Parameters>) {
    guard let ids = transfers(call.parameters.ids, of: call) else { return }
    guard (-100...100).contains(call.parameters.priority) else {
      return call.fail(InvalidParameter(parameter: "priority"))
    }
    let before = ids.compactMap { id in core.engine.transferState(of: id).map { (id, $0.policy.priority) } }
    steer(
      ids.map { .transferPrioritized($0, Int32(call.parameters.priority)) },
      undo: before.map { .transferPrioritized($0, $1) }, for: call)
  }
}
