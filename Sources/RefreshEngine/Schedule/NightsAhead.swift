/// The nights to come, each of which makes the plans of all apps anew, for some looks ahead from one instant.
///
/// They pass as in a ``Forecast``: on a copy of the engine, whose refreshes end at once and with no data. Where many apps are
/// refreshed before a night, it passes for the app alone that is asked about, without what the others do until then.
public struct NightsAhead {
  /// The engine when the changes of a night are made, and the first start of each app since the night before: a night waits
  /// to share a wake with others, which then start by the plans before it.
  typealias Passed = (engine: Engine, at: Instant, starts: [AppID: (trigger: Trigger, at: Instant)])

  /// The engine after the nights that have passed; nil before the first, because a copy takes longer than most looks.
  private var engine: Engine?
  private var moment: Instant
  private var passed: [Passed] = []
  private var workedOut = 0
  private var alone = 0

  /// Apps up to which all of them are looked at.
  private static let mostApps = 32
  /// Wakes and starts that are computed for all looks together: 50 ms or so.
  private static let mostWorkedOut = 400
  /// Nights that are passed for apps alone: each takes half a millisecond.
  private static let mostAlone = 100

  /// The nights that follow an instant, boot clock, not before that of the engine's last event.
  public init(from now: Instant) { moment = now }

  /// The engine after a number of nights, from 1; nil where too much happens before.
  ///
  /// - Parameter start: the engine before the first night, the same in every look.
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

  /// The engine after the next night, with the asked app alone at index 0; nil when enough apps were looked at.
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
  /// When the plan in force of an app is made anew, boot clock; nil for one that no plan refreshes.
  func nextPlan(of index: AppIndex) -> Instant? {
    let app = apps[index]
    return app.phase == .background && app.state.lastStart != nil && isPlanned(app) ? nightAt : nil
  }
}
