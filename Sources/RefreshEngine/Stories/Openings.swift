// Openings: when the user comes to an app, and what the engine learns from it.

extension Engine {
  /// Learns that the user has brought an app to the foreground, and plans again: a met habit is not expected again.
  ///
  /// `begun` is when a desktop first showed the app in front, boot clock; nil for an opening by signal.
  mutating func learnOpening(of index: AppIndex, observedAt begun: Instant? = nil, _ turn: inout Turn) {
    let change = Opening.Change.began(isObserved: begun != nil)
    turn.decision.changes.history.openings.append(
      Opening(app: apps.id(at: index), at: begun ?? turn.now, change: change))
    apps[index].visits.beginOpening()
    guard apps[index].policy?.isAdaptive == true else { return }
    let isFirst = planner.recordOpening(of: apps[index], at: index, judge, now: turn.now)
    // A refresh that the opening asks for, or that is running, plans at its end.
    guard isFirst, apps[index].refreshing == nil, apps[index].requests.pending == nil else { return }
    plan(index, at: turn.now)
  }

  /// Learns an opening that a desktop has shown for long enough.
  mutating func recordOpening(_ index: AppIndex, _ turn: inout Turn) {
    if let begun = apps[index].visits.claimOpening(at: turn.now) {
      learnOpening(of: index, observedAt: begun, &turn)
    }
  }

  /// Records the end of an opening.
  mutating func endOpening(of index: AppIndex, _ turn: inout Turn) {
    apps[index].visits.endOpening()
    turn.decision.changes.history.openings.append(Opening(app: apps.id(at: index), at: turn.now, change: .ended))
  }
}
