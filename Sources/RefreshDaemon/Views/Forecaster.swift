import RefreshAPI
import RefreshEngine
import Threads

/// Computes a forecast on the thread of all forecasts, a slice of time at once, so that callers take turns.
///
/// The engine is a value: a forecast works on a copy, and changes nothing in the daemon or the store.
actor Forecaster {
  private static let executor = ThreadExecutor(name: "forecast")
  private static let slice = Duration.milliseconds(20)

  nonisolated var unownedExecutor: UnownedSerialExecutor { Self.executor.asUnownedSerialExecutor() }

  private var forecast: Forecast
  private let from: Instant
  /// Whether there are apps that the caller may not ask about: true or nil.
  private let hasAppsOfOthers: Bool?

  init(_ engine: Engine, apps: Set<AppID>, for span: Duration, at now: Instant, hasAppsOfOthers: Bool?) {
    forecast = Forecast(beginningWith: engine, apps: apps, for: span, at: now)
    (from, self.hasAppsOfOthers) = (now, hasAppsOfOthers)
  }

  /// Works for a slice of time; the refreshes that would start, as the socket shows them, or nil if there is more to do.
  func goOn() -> ManagerInterface.Forecast.Reply? {
    let end = ContinuousClock.now + Self.slice
    while forecast.goOn() {
      if ContinuousClock.now > end { return nil }
    }
    return reply
  }

  private var reply: ManagerInterface.Forecast.Reply {
    let engine = forecast.engine
    func wall(_ instant: Instant) -> Int64 { instant.wallMicroseconds(at: engine.wallOffset) }
    return ManagerInterface.Forecast.Reply(
      fromMicroseconds: wall(from), untilMicroseconds: wall(forecast.end), isCut: forecast.isCut,
      wakes: forecast.wakes.map { wake in
        Wire.ForecastWake(
          window: Wire.Window(
            earliestMicroseconds: wall(wake.window.earliest), latestMicroseconds: wall(wake.window.latest)),
          starts: wake.starts.map {
            Wire.ForecastStart(app: $0.app.description, trigger: Wire.Trigger($0.trigger))
          })
      },
      rest: forecast.rest.map { Wire.ForecastRest($0, wallOffset: engine.wallOffset) },
      aloneFromMicroseconds: forecast.aloneFrom.map(wall),
      pushes: forecast.pushes.map { app, pushes in
        Wire.ForecastPushes(
          app: app.description, pushes: pushes.map { Wire.PushWaiting($0, wallOffset: engine.wallOffset) })
      },
      transfers: forecast.transfers.map { policy, id, verdict in
        Wire.ForecastTransfer(
          app: policy.app.description, id: Int64(id.number),
          holds: verdict.holds(of: policy, wallOffset: engine.wallOffset) ?? [])
      },
      guards: forecast.guards.isEmpty ? nil : guards(of: forecast, engine),
      hasAppsOfOthers: hasAppsOfOthers)
  }

  private func guards(of forecast: Forecast, _ engine: Engine) -> [Wire.ForecastGuard] {
    forecast.guards.map { app, changes in
      Wire.ForecastGuard(
        app: app.description, unit: engine.guardState(of: app)?.unit.name ?? "",
        changes: changes.map { change in
          Wire.ForecastChange(
            atMicroseconds: change.from.wallMicroseconds(at: engine.wallOffset),
            holds: change.holds.map(\.name.rawValue))
        })
    }
  }
}

extension Wire.ForecastRest {
  fileprivate init(_ rest: Forecast.Rest, wallOffset: Duration) {
    let app = rest.app.description
    switch rest.verdict {
    case .notDue(let due):
      self.init(app: app, dueMicroseconds: due.window.earliest.wallMicroseconds(at: wallOffset), holds: [])
    case .held(let holds, _):
      self.init(app: app, holds: holds.map { $0.wire(of: app, wallOffset: wallOffset) })
    case .ready, .clear, .refreshing:
      self.init(app: app, holds: [])
    }
  }
}
