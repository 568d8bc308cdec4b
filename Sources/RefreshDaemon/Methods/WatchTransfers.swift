import RefreshAPI
import RefreshEngine
import Varlink

extension Daemon {
  /// Tells what becomes of transfers until the connection ends (FEATURES F3).
  func watchTransfers(_ call: Call<TransfersInterface.Watch.Parameters>) {
    if let name = call.parameters.app, !mayAsk(about: name, for: call) { return }
    guard call.wantsMore else { return call.fail(ExpectedMore()) }
    follow(.watch(call, call.parameters.app.flatMap(AppID.init)), until: call)
  }

  /// Tells one who watches all there is, and what is new until the connection ends.
  func follow<Parameters>(_ watcher: TransferWatchers.Watcher, until call: Call<Parameters>) {
    let number = transferWatchers.add(watcher)
    call.onDisconnect { self.transferWatchers.remove(number) }
    tellAll(watcher)
  }
}
