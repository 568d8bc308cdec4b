import RefreshAPI
import RefreshEngine
import Varlink

extension Daemon {
  /// Forgets everything about an app that is out of the configuration.
  ///
  /// No file names the app's owner any more, so only a caller who may ask about every app may do this.
  func erase(_ call: Call<ManagerInterface.Erase.Parameters>) {
    guard core.access.mayAll(call.peer) else {
      return call.fail(RefreshdInterface.NotAllowed(app: call.parameters.app, remedy: core.access.remedy))
    }
    guard let app = AppID(call.parameters.app), core.engine.state(of: app)?.seenAt != nil else {
      return call.fail(RefreshdInterface.NoSuchApp(app: call.parameters.app))
    }
    guard core.engine.mayErase(app) else {
      let remedy =
        core.configuration[app].map { "remove \($0.file), then refreshctl reload" }
        ?? (core.engine.state(of: app)?.running == nil ? "cancel its transfers" : "wait until its refresh has ended")
      return call.fail(ManagerInterface.InUse(app: app.description, remedy: remedy))
    }
    change([.erased(app)], for: call) {
      // The disk has forgotten its transfers too.
      self.core.handle(.erased(app))
      return ManagerInterface.Erase.Reply()
    }
  }
}
