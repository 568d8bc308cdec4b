import RefreshAPI
import RefreshEngine
import Varlink

extension Daemon {
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
