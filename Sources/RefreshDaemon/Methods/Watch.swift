import RefreshAPI
import RefreshEngine
import Varlink

extension Daemon {
  /// Tells what happens until the connection ends (FEATURES H7).
  func watch(_ call: Call<ManagerInterface.Watch.Parameters>) {
    guard call.wantsMore else { return call.fail(ExpectedMore()) }
    var named: Set<AppID>?
    if let names = call.parameters.apps {
      guard let apps = apps(named: names, for: call) else { return }
      named = Set(apps.map(\.id))
    }
    if watchers.all.isEmpty { watchers.pause = engine.device.pause }
    let number = watchers.add(Watchers.Watcher(call: call, apps: named))
    call.onDisconnect { self.watchers.remove(number) }
    let at = readClocks().wallMicroseconds(at: engine.wallOffset)
    call.reply(
      ManagerInterface.Watch.Reply(event: Wire.WatchEvent(kind: .watching, atMicroseconds: at)), continues: true)
  }
}
