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
      asked.count < apps.count ? hasAppsOfOthers(than: asked.count, for: call.peer) : nil
    let now = core.readClocks()
    guard !asked.isEmpty else {
      return call.reply(
        ManagerInterface.Forecast.Reply(
          fromMicroseconds: core.wall(now), untilMicroseconds: core.wall(now + .hours(Int64(hours))), isCut: false,
          wakes: [], rest: [], hasAppsOfOthers: others))
    }
    forecasts.begin(call) {
      Forecaster(
        self.core.engine, apps: asked, for: .hours(Int64(hours)), at: self.core.readClocks(), hasAppsOfOthers: others)
    }
  }
}

/// The forecasts that callers wait for.
///
/// Each user has one at a time, and they take turns on their thread. Each has a copy of the engine, so there are few at once.
final class Forecasts {
  typealias ForecastCall = Call<ManagerInterface.Forecast.Parameters>
  /// Goes on with a forecast; nil if there is more to do.
  typealias Work = (Forecaster, @escaping (ManagerInterface.Forecast.Reply?) -> Void) -> Void

  private static let most = 4
  private let ports: Ports
  private var underWay = 0
  private var waiting: [(call: ForecastCall, make: () -> Forecaster)] = []

  init(_ ports: Ports) { self.ports = ports }

  /// Answers a call with a forecast, which is made when its turn comes.
  func begin(_ call: ForecastCall, _ make: @escaping () -> Forecaster) {
    waiting.append((call, make))
    beginNext()
  }

  private func beginNext() {
    while underWay < Self.most, !waiting.isEmpty {
      let next = waiting.removeFirst()
      // A caller that is gone must not keep the others waiting.
      guard !next.call.isUnheard else {
        next.call.drop()
        continue
      }
      underWay += 1
      goOn(next.make(), for: next.call)
    }
  }

  private func goOn(_ forecaster: Forecaster, for call: ForecastCall) {
    ports.forecast(forecaster) { [self] reply in
      if reply == nil, !call.isUnheard { return goOn(forecaster, for: call) }
      underWay -= 1
      if let reply { call.reply(reply) } else { call.drop() }
      if underWay == 0, waiting.isEmpty { ports.trimMemory() }
      beginNext()
    }
  }
}
