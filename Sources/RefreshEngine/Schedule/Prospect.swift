/// The next refresh of an app while its phase, the machine and the user's word stay as they are.
///
/// To be due and to start are two things: a hold may lie between. Both are told here, by the same verdicts on virtual
/// time that ``Forecast`` goes by, without a copy of the engine. A plan that a night makes anew is not foreseen, nor a
/// transfer that ends.
public struct Prospect: Hashable, Sendable {
  /// Why it starts, or would if nothing held it; nil when nothing asks for a refresh.
  public var trigger: Trigger?
  /// From when until when it is due, boot clock; nil when nothing asks for a refresh, or none may be asked for.
  public var due: Window?
  /// The holds that keep it when it is due, or now if it is due already; empty when there are none.
  public var holds: [Hold] = []
  /// From when until when it starts, boot clock; nil when time alone does not start it.
  public var start: Window?
}

extension Engine {
  /// The most moments that a look ahead goes through: each lifts a hold, or is the end of quiet hours.
  private static let mostMoments = 64

  /// The next refresh of an app, as of an instant, boot clock; nil while one is running.
  public func prospect(of id: AppID, at now: Instant) -> Prospect? {
    guard let index = apps.index(of: id) else { return Prospect(holds: [.notConfigured]) }
    var prospect = Prospect()
    var moment = now
    for _ in 0..<Self.mostMoments {
      let verdict = verdict(on: index, at: moment)
      if prospect.holds.isEmpty, let due = due(index, at: moment) {
        // At the end of a rest the interval was over long before.
        if moment == now || due.earliest > moment {
          prospect.due = Window(earliest: due.earliest, latest: due.latest)
        }
        prospect.trigger = due.trigger
      }
      var next: Instant?
      switch verdict {
      case .refreshing: return nil
      case .ready(let trigger): return prospect.starting(trigger, at: moment, from: now)
      case .notDue(let until): next = until
      case .held([.concurrency]) where moment > now:
        // The refreshes that run now have ended by then.
        return prospect.starting(prospect.trigger, at: moment, from: now)
      case .held(let holds) where isKeptByOpenQuestions(index, holds):
        // A command is asked then, and may say yes.
        if prospect.holds.isEmpty, moment == now { prospect.holds = holds }
        return prospect.starting(prospect.trigger, at: moment, from: now)
      case .held(let holds):
        if prospect.holds.isEmpty { prospect.holds = holds }
        next = lifts(of: holds, on: index, at: moment)
      }
      guard let next, next > moment else { return prospect }
      moment = next
    }
    return prospect
  }
}

extension Prospect {
  /// The same, with a start at an instant, or later as far as its window allows.
  fileprivate func starting(_ trigger: Trigger?, at moment: Instant, from now: Instant) -> Prospect {
    var prospect = self
    prospect.trigger = trigger
    // A hold that is there already is woken for at its very end; one that comes may end before anybody wakes up.
    let wasHeld = !holds.isEmpty && due.map { $0.earliest <= now } ?? true
    prospect.start = Window(earliest: moment, latest: wasHeld ? moment : max(moment, due?.latest ?? moment))
    return prospect
  }
}
