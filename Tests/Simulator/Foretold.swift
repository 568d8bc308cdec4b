import RefreshEngine

/// Compares an engine's reported next starts with the actions of a copy of it while only time passes.
public struct Foretold {
  private var engine: Engine
  private var now: Instant
  /// The reports about apps that have not come true yet.
  private var said: [AppID: Prospect]
  /// The due apps whose holds were checked.
  private var seenHeld: Set<AppID> = []

  /// Finds the first report that does not come true.
  ///
  /// - Parameters:
  ///   - engine: the engine at that instant.
  ///   - said: the reports about each app at that instant.
  ///   - now: the instant, boot clock.
  ///   - span: how far to look; a later start is not checked.
  /// - Returns: what differs, in a sentence; nil if all reports come true.
  public static func lie(of engine: Engine, _ said: [AppID: Prospect], at now: Instant, for span: Duration) -> String? {
    var foretold = Foretold(engine: engine, now: now, said: said)
    return foretold.play(until: now + span)
  }

  private init(engine: Engine, now: Instant, said: [AppID: Prospect]) {
    (self.engine, self.now) = (engine, now)
    // An app that waits for a place gets one when another refresh ends, which here is at once. A new plan may differ.
    let night = engine.roundWake?.earliest
    self.said = said.filter { id, prospect in
      guard prospect.holds != [.concurrency] else { return false }
      guard engine.explain(id, at: now)?.planning != nil, let night else { return true }
      return prospect.start.map { $0.latest < night } ?? false
    }
  }

  private mutating func play(until end: Instant) -> String? {
    if let lie = pass([]) { return lie }
    while !said.isEmpty, let wake = engine.nextWake, wake.earliest <= end {
      let next = max(wake.earliest, now)
      if let lie = lieOfHolds(before: next) ?? lieOfStarts(before: next) { return lie }
      now = next
      if let lie = pass([.wokeUp]) { return lie }
    }
    return lieOfHolds(before: end) ?? lieOfStarts(before: end)
  }

  /// Handles events at one time, ends the started refreshes at once, and checks the starts.
  private mutating func pass(_ events: [Event]) -> String? {
    var events = events
    repeat {
      for event in events {
        for new in engine.handle(event, at: now).beginnings {
          guard let prospect = said.removeValue(forKey: new.app) else { continue }
          // A transfer that is given up wakes its app, whatever the report was.
          let reports = engine.started(of: new.id)?.session != nil
          if reports, prospect.trigger != .transfer || prospect.start == nil { continue }
          guard let start = prospect.start else { return "\(new.app) starts, but was to be held: \(prospect)" }
          if now < start.earliest { return "\(new.app) starts at \(now), too early: \(prospect)" }
          if prospect.trigger != new.trigger { return "\(new.app) starts by \(new.trigger): \(prospect)" }
        }
      }
      let ends = engine.refreshes.flatMap { refresh in
        (0..<engine.taskCount(of: refresh)).map { Event.taskEnded(refresh, task: $0, TaskEnd(exit: .exited(0))) }
      }
      // The commands of conditions answer as they did last.
      events = ends + engine.assumedAnswers
    } while !events.isEmpty
    return nil
  }

  /// An app that is due and has other holds than reported.
  private mutating func lieOfHolds(before next: Instant) -> String? {
    for (id, prospect) in said where !seenHeld.contains(id) && !prospect.holds.isEmpty {
      let moment = max(now, prospect.due?.earliest ?? now)
      guard moment < next else { continue }
      seenHeld.insert(id)
      // The app is woken for a transfer that was given up, which needs less.
      if let seen = engine.explain(id, at: moment), seen.trigger == .transfer, !seen.drained.isEmpty { continue }
      guard case .held(let holds, _) = engine.verdict(on: id, at: moment), Self.same(holds, prospect.holds) else {
        return "\(id) is \(engine.verdict(on: id, at: moment)) when it is due: \(prospect)"
      }
    }
    return nil
  }

  /// An app whose reported start is before this time, and that has not started.
  private func lieOfStarts(before next: Instant) -> String? {
    said.first { $1.start.map { $0.latest < next } ?? false }.map { "\($0) has not started by \(next): \($1)" }
  }

  private static func same(_ holds: [Hold], _ others: [Hold]) -> Bool { holds.map(\.name) == others.map(\.name) }
}
