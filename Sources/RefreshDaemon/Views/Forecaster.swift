import RefreshAPI
import RefreshEngine
import Threads

/// Computes forecasts on its own thread, so that the loop does not wait for them.
///
/// The engine is a value: a forecast works on a copy, and changes nothing in the daemon or the store.
actor Forecaster {
  private nonisolated let executor = ThreadExecutor(name: "forecast")

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  struct Question: Sendable {
    let engine: Engine
    let apps: Set<AppID>
    let span: Duration
    let now: Instant
    /// Whether there are apps that the caller may not ask about: true or nil.
    var hasAppsOfOthers: Bool?
  }

  /// The refreshes that would start from now on, as the socket shows them.
  func answer(_ question: Question) -> ManagerInterface.Forecast.Reply {
    let (engine, now) = (question.engine, question.now)
    let forecast = Forecast(of: engine, apps: question.apps, for: question.span, at: now)
    func wall(_ instant: Instant) -> Int64 { instant.wallMicroseconds(at: engine.wallOffset) }
    return ManagerInterface.Forecast.Reply(
      fromMicroseconds: wall(now), untilMicroseconds: wall(forecast.end), isCut: forecast.isCut,
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
      hasAppsOfOthers: question.hasAppsOfOthers)
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
    case .notDue(let until):
      self.init(app: app, dueMicroseconds: until.wallMicroseconds(at: wallOffset), holds: [])
    case .held(let holds):
      self.init(app: app, holds: holds.map { $0.wire(of: app, wallOffset: wallOffset) })
    case .ready, .clear, .refreshing:
      self.init(app: app, holds: [])
    }
  }
}
