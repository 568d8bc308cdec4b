import RefreshAPI
import RefreshEngine
import Varlink

extension Daemon {
  /// Tells the bridge whether it may connect, at once and whenever that changes, until the connection ends.
  func watchBridge(_ call: Call<PushInterface.Watch.Parameters>) {
    guard mayPush(call) else { return }
    guard call.wantsMore else { return call.fail(ExpectedMore()) }
    pushes.use()
    pushes.bridge.watch(call)
  }
}
