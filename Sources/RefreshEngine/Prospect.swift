/// The next refresh of an app, if its phase, the machine and the user's switches stay as they are.
///
/// A refresh that is due may be held, so both times are given, by the verdicts on virtual time that ``Forecast`` uses. Plans
/// of coming nights are foreseen, from what is learnt now; ends of transfers are not.
public struct Prospect: Hashable, Sendable {
  /// Its trigger, also while it is held; nil when nothing asks for a refresh.
  public var trigger: Trigger?
  /// When it is due, boot clock; nil when nothing asks for a refresh, or none may be asked for.
  public var due: Window?
  /// The holds when it is due, or now if it is due already; empty without holds.
  public var holds: [Hold] = []
  /// When it starts, boot clock; nil if time alone does not start it.
  public var start: Window?
  /// When its plan will be made, boot clock; nil if that is made already, or no plan applies.
  public var plannedAt: Instant?
}

/// The verdict on an app now, and its next refresh.
public struct Outlook: Hashable, Sendable {
  /// The verdict now.
  public var verdict: Verdict
  /// The trigger of the next refresh; nil while the app is held or refreshed.
  public var trigger: Trigger?
  /// The next refresh; nil while a refresh runs.
  public var prospect: Prospect?
}

extension Engine {
  /// The most moments to look at: each lifts a hold, or is the end of quiet hours.
  private static let mostMoments = 64
  /// How far ahead nights are foreseen.
  ///
  /// A later refresh keeps the time of the plan in force: by then more will be learnt than can be foreseen.
  private static let foresight = Duration.hours(14 * 24)

  /// The next refresh of an app as of an instant, boot clock; nil while a refresh runs.
  public func prospect(of id: AppID, at now: Instant) -> Prospect? {
    var nights = NightsAhead(from: now)
    return prospect(of: id, at: now, &nights)
  }

  /// The next refresh of an app, with nights that several apps share.
  public func prospect(of id: AppID, at now: Instant, _ nights: inout NightsAhead) -> Prospect? {
    outlook(of: id, at: now, &nights).prospect
  }

  /// The verdict on an app at an instant of the boot clock, and its next refresh, with nights that several apps share.
  public func outlook(of id: AppID, at now: Instant, _ nights: inout NightsAhead) -> Outlook {
    guard let index = apps.index(of: id) else {
      return Outlook(verdict: .held([.notConfigured]), prospect: Prospect(holds: [.notConfigured]))
    }
    let seen = look(at: index, now)
    var prospect = lookAhead(index, id, from: seen, at: now, &nights)
    if prospect?.trigger != .interval { prospect?.plannedAt = nil }
    let trigger: Trigger? =
      switch seen.verdict {
      case .ready(let due), .notDue(let due): due.trigger
      case .held, .clear, .refreshing: nil
      }
    return Outlook(verdict: seen.verdict, trigger: trigger, prospect: prospect)
  }

  /// The verdict on an app at a moment, and when it may change.
  private struct Look {
    var verdict: Verdict
    /// When time alone changes the verdict, boot clock; nil when it never does.
    var next: Instant?
    /// When the plan in force is made again, boot clock; nil for an app that no plan refreshes.
    var night: Instant?
  }

  private func look(at index: AppIndex, _ moment: Instant) -> Look {
    let verdict = verdict(on: index, at: moment)
    var look = Look(verdict: verdict, night: nextPlan(of: index))
    switch verdict {
    case .notDue(let due): look.next = due.window.earliest
    case .held(let holds, _): look.next = judge.lifts(of: holds, on: apps[index], at: moment)
    case .refreshing, .clear, .ready: break
    }
    return look
  }

  /// Looks for the next refresh of an app, from `first`, the look at `now`; nil while it is refreshed.
  private func lookAhead(
    _ known: AppIndex, _ id: AppID, from first: Look, at now: Instant, _ nights: inout NightsAhead
  ) -> Prospect? {
    var index = known
    // The engine after the coming nights; nil before the first, because most prospects need no copy of the engine.
    var ahead: Engine?
    var (passed, isAlone) = (0, false)
    var prospect = Prospect()
    var moment = now
    for _ in 0..<Self.mostMoments {
      let seen = passed == 0 && moment == now ? first : ahead?.look(at: index, moment) ?? look(at: index, moment)
      let due = seen.verdict.due
      if prospect.holds.isEmpty, let due {
        // At the end of a rest the interval ended long before.
        if moment == now || due.window.earliest > moment {
          prospect.due = due.window
        } else if prospect.plannedAt == moment {
          prospect.due = Window(earliest: moment, latest: max(moment, due.window.latest))
        }
        prospect.trigger = due.trigger
      }
      switch seen.verdict {
      case .refreshing: return nil
      case .clear: return prospect
      case .ready(let due): return prospect.starting(due.trigger, at: moment, from: now)
      case .notDue: break
      case .held([.concurrency], _) where moment > now:
        // The refreshes that run now have ended by then, and another trigger may be due.
        return prospect.starting(due?.trigger ?? prospect.trigger, at: moment, from: now)
      case .held(let holds, _)
      where (ahead ?? self).judge.isHeldByOpenQuestions((ahead ?? self).apps[index], holds):
        // A command is asked then, and may say yes.
        if prospect.holds.isEmpty, moment == now { prospect.holds = holds }
        return prospect.starting(due?.trigger ?? prospect.trigger, at: moment, from: now)
      case .held(let holds, _):
        if prospect.holds.isEmpty { prospect.holds = holds }
      }
      guard let next = seen.next, next > moment else { return prospect }
      guard let night = seen.night, night < next, next <= now + Self.foresight else {
        moment = next
        continue
      }
      passed += 1
      if !isAlone, let after = nights.after(passed, of: self) {
        if let start = after.starts[id], start.at >= night {
          return prospect.starting(start.trigger, at: start.at, from: now)
        }
        (ahead, moment) = (after.engine, max(moment, after.at))
      } else if next > night + Planner.nightWindow, let after = nights.passing(night, for: id, in: ahead ?? self) {
        (ahead, index, isAlone, moment) = (after, 0, true, max(moment, night))
      } else {
        moment = next
        continue
      }
      prospect.plannedAt = moment
    }
    return prospect
  }
}

extension Prospect {
  /// This prospect with a start at an instant, or later within the window that is due.
  fileprivate func starting(_ trigger: Trigger?, at moment: Instant, from now: Instant) -> Prospect {
    var prospect = self
    prospect.trigger = trigger
    // The daemon wakes at the very end of a present hold; a coming hold may end before the next wake.
    let wasHeld = !holds.isEmpty && due.map { $0.earliest <= now } ?? true
    prospect.start = Window(earliest: moment, latest: wasHeld ? moment : max(moment, due?.latest ?? moment))
    return prospect
  }
}

/// The coming nights, each of which plans all apps again, for several prospects from one instant.
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
    guard let index = engine.apps.index(of: id) else { return nil }
    let ahead = engine.planner.alone(engine.apps[index], at: index, engine.judge, night: night)
    (engine.apps, engine.planner) = (engine.apps.alone(id), ahead.planner)
    if ahead.isDue { engine.plan(0, at: night) }
    return engine
  }

  private mutating func pass(_ engine: inout Engine) -> Passed? {
    guard let night = engine.planner.nightAt else { return nil }
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
    } while engine.planner.nightAt == night || engine.planner.isInRound
    return (engine, moment, first)
  }
}

extension Engine {
  /// When an app's plan in force is made again, boot clock; nil if no plan refreshes the app.
  func nextPlan(of index: AppIndex) -> Instant? {
    let app = apps[index]
    return app.phase == .background && app.timetable.lastStart != nil && app.isPlanned ? planner.nightAt : nil
  }
}
