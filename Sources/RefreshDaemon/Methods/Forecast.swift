import RefreshAPI
import RefreshEngine
import Varlink

extension Daemon {
  /// Forecasts the next starts, by a copy of the engine in virtual time.
  func forecast(_ call: Call<ManagerInterface.Forecast.Parameters>) {
    let hours = call.parameters.hours ?? 24
    guard (1...168).contains(hours) else { return call.fail(InvalidParameter(parameter: "hours")) }
    var apps = core.configuration.apps
    if let name = call.parameters.app {
      guard let app = app(named: name, for: call) else { return }
      apps = [app]
    }
    let asked = Set(apps.lazy.filter { self.core.access.may(call.peer, about: $0) }.map(\.id))
    let others =
      asked.count < apps.count ? hasAppsOfOthers(than: apps.filter { asked.contains($0.id) }, for: call.peer) : nil
    let now = core.readClocks()
    guard !asked.isEmpty else {
      return call.reply(
        ManagerInterface.Forecast.Reply(
          fromMicroseconds: core.wall(now), untilMicroseconds: core.wall(now + .hours(Int64(hours))), isCut: false,
          wakes: [], rest: [], hasAppsOfOthers: others))
    }
    let question = Forecaster.Question(
      engine: core.engine, apps: asked, span: .hours(Int64(hours)), now: now, hasAppsOfOthers: others)
    ports.forecast(question) { reply in
      call.reply(reply)
      self.ports.trimMemory()
    }
  }
}
