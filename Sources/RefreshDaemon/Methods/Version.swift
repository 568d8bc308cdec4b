import RefreshAPI
import Varlink

extension Daemon {
  /// Tells the daemon's version, to anyone.
  func version(_ call: Call<ManagerInterface.Version.Parameters>) {
    call.reply(ManagerInterface.Version.Reply(version: refreshdVersion, start: Int(core.engine.start)))
  }
}
