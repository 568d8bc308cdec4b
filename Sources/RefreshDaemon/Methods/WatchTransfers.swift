import RefreshAPI
import RefreshEngine
import Varlink

extension Daemon {
  /// Reports changes of transfers until the connection ends.
  func watchTransfers(_ call: Call<TransfersInterface.Watch.Parameters>) {
    if let name = call.parameters.app, !mayAsk(about: name, for: call) { return }
    guard call.wantsMore else { return call.fail(ExpectedMore()) }
    transfers.watchers.add(.watch(call, call.parameters.app.flatMap(AppID.init)), until: call)
  }
}
