import RefreshAPI
import RefreshConfig
import RefreshEngine
import Varlink

extension Daemon {
  /// Attaches a process that performs the app's refreshes, until the connection ends.
  func attach(_ call: Call<AppInterface.Attach.Parameters>) {
    guard let app = AppID(call.parameters.app).flatMap({ core.configuration[$0] }) else {
      return call.fail(RefreshdInterface.NoSuchApp(app: call.parameters.app))
    }
    guard core.access.may(call.peer, about: app) else {
      return call.fail(RefreshdInterface.NotAllowed(app: call.parameters.app, remedy: core.access.remedy(for: app)))
    }
    guard call.wantsMore else { return call.fail(ExpectedMore()) }
    audience.attach(call, to: app.id) { self.runner.performerLeft($0) }
  }
}
