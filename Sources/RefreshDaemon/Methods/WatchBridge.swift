import RefreshAPI
import Varlink

// The calls of the push bridge, except its deliveries.

extension Daemon {
  /// Whether the caller may act as the bridge; answers the call if not.
  func mayPush<Parameters>(_ call: Call<Parameters>) -> Bool {
    if core.access.mayPush(call.peer) { return true }
    call.fail(RefreshdInterface.NotAllowed(remedy: core.access.remedyForPushes))
    return false
  }

  /// Tells the bridge whether it may connect, now and after each change, until the connection ends.
  func watchBridge(_ call: Call<PushInterface.Watch.Parameters>) {
    guard mayPush(call) else { return }
    guard call.wantsMore else { return call.fail(ExpectedMore()) }
    pushes.use()
    pushes.bridge.watch(call)
  }

  /// Keeps the bridge's sources, for `Status`, until the connection ends.
  func reportSources(_ call: Call<PushInterface.Report.Parameters>) {
    guard mayPush(call) else { return }
    guard call.parameters.sources.count <= Wire.Source.most else {
      return call.fail(InvalidParameter(parameter: "sources"))
    }
    pushes.use()
    pushes.bridge.report(call.parameters.sources.map(\.bounded), by: call.connection)
    call.reply(PushInterface.Report.Reply())
  }
}
