import RefreshAPI
import RefreshEngine
import Varlink

extension Daemon {
  /// Takes note of the bridge's sources, for status, until the connection ends.
  func reportSources(_ call: Call<PushInterface.Report.Parameters>) {
    guard mayPush(call) else { return }
    guard call.parameters.sources.count <= Wire.Source.most else {
      return call.fail(InvalidParameter(parameter: "sources"))
    }
    usePushes()
    pushes.bridge.note(call.parameters.sources.map(\.bounded), of: call.connection, at: readClocks())
    keepBridge(call.connection)
    call.reply(PushInterface.Report.Reply())
  }
}
