/// The coming nights, each of which plans all apps anew, for several prospects from one instant.
///
/// They pass as in a ``Forecast``: on a copy of the engine whose refreshes end at once with no data. If many apps are
/// refreshed before a night, only the asked app passes it, without the effects of the others.
public struct NightsAhead {
  /// The engine after a night, and the first start of each app since the night before.
  ///
  /// A night may wait to share a wake, and starts at that wake still follow the earlier plans.
  typealias Passed = (engine: Engine, at: Instant, starts: [AppID: (trigger: Trigger, at: Instant)])

  /// The engine after the passed nights; nil before the first, because most prospects need no copy of the engine.
  private var engine: Engine?
  private var moment: Instant
  private var passed: [Passed] = []
  private var workedOut = 0
  private var alone = 0

  /// Up to how many apps all are simulated.
  private static let mostApps = 32
  /// How many wakes and starts are computed for all prospects together: about 50 ms.
  private static let mostWorkedOut = 400
  /// How many nights are passed for single apps: each takes half a millisecond.
  private static let mostAlone = 100

  /// Makes the nights after an instant, boot clock, not before the time of the engine's last event.
  public init(from now: Instant) { moment = now }

  /// Goes on at a later instant with more prospects, within the same bounds: the engine may have changed since.
  public mutating func goOn(from now: Instant) { (engine, moment, passed) = (nil, now, []) }

  /// The engine after a number of nights, from 1; nil if too much happens before.
  ///
  /// `start` is the engine before the first night, the same in every call.
  mutating func after(_ nights: Int, of start: Engine) -> Passed? {
    guard start.apps.count <= Self.mostApps else { return nil }
    while passed.count < nights {
      var engine = self.engine.take() ?? start
      defer { self.engine = engine }
      guard let next = pass(&engine) else { return nil }
      passed.append(next)
    }
    return passed[nights - 1]
  }

  /// The engine after the next night, with only the asked app, at index 0; nil after too many such nights.
  mutating func passing(_ night: Instant, for id: AppID, in engine: Engine) -> Engine? {
    guard alone < Self.mostAlone else { return nil }
    alone += 1
    var engine = engine
    engine.apps = engine.apps.alone(id)
    engine.planAlone(id, at: night)
    return engine
  }

  private mutating func pass(_ engine: inout Engine) -> Passed? {
    guard let night = engine.nightAt else { return nil }
    var next = moment
    var first: [AppID: (trigger: Trigger, at: Instant)] = [:]
    repeat {
      guard workedOut < Self.mostWorkedOut else { return nil }
      moment = max(moment, next)
      let starts = engine.starts(at: moment, atMost: Self.mostWorkedOut - workedOut)
      for start in starts where first[start.app] == nil { first[start.app] = (start.trigger, moment) }
      workedOut += 1 + starts.count
      guard let wake = engine.nextWake else { return nil }
      next = wake.earliest
    } while engine.nightAt == night || engine.round != nil
    return (engine, moment, first)
  }
}

extension Engine {
  /// When an app's plan in force is made anew, boot clock; nil if no plan refreshes the app.
  func nextPlan(of index: AppIndex) -> Instant? {
    let app = apps[index]
    return app.phase == .background && app.state.lastStart != nil && isPlanned(app) ? nightAt : nil
  }
}
