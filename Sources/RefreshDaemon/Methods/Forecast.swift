import RefreshAPI
import RefreshEngine
import Varlink

extension Daemon {
  /// Tells what would start when, by a copy of the engine on virtual time (FEATURES H5).
  func forecast(_ call: Call<ManagerInterface.Forecast.Parameters>) {
    let hours = call.parameters.hours ?? 24
    guard (1...168).contains(hours) else { return call.fail(InvalidParameter(parameter: "hours")) }
    var apps = configuration.apps
    if let name = call.parameters.app {
      guard let app = app(named: name, for: call) else { return }
      apps = [app]
    }
    let asked = Set(apps.lazy.filter { self.access.may(call.peer, about: $0) }.map(\.id))
    let now = readClocks()
    let engine = engine
    Task {
      call.reply(await forecaster.forecast(of: engine, apps: asked, for: .hours(Int64(hours)), at: now))
      Memory.giveBack()
    }
  }
}
