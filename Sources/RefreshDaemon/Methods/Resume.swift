import RefreshAPI
import RefreshEngine
import Varlink

extension Daemon {
  /// Ends the pause of all apps, if there is one.
  func resume(_ call: Call<ManagerInterface.Resume.Parameters>) {
    guard core.access.mayAll(call.peer) else {
      return call.fail(ManagerInterface.NotAllowed(remedy: core.access.remedy))
    }
    change([.paused(nil)], undo: [.paused(core.engine.device.pause)], for: call) { ManagerInterface.Resume.Reply() }
  }
}
