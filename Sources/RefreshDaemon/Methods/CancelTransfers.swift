import RefreshAPI
import RefreshEngine
import Varlink

extension Daemon {
  /// Ends transfers and keeps nothing of them (FEATURES F7).
  func cancelTransfers(_ call: Call<TransfersInterface.Cancel.Parameters>) {
    guard let ids = transfers(call.parameters.ids, of: call) else { return }
    steer(ids.map(Event.transferCancelled), undo: [], for: call)
  }
}
