// Openings: when the user comes to an app, and when the user leaves it.

extension Engine {
  /// Begins or ends the opening of an app after a change of its phase.
  ///
  /// An app that only a desktop shows in front is not open yet; see ``confirmOpening(of:_:)``.
  mutating func updateOpening(of index: AppIndex, _ turn: inout Turn) {
    let (phase, visits) = (apps[index].phase, apps[index].visits)
    if phase != .foreground, visits.isOpen { endOpening(of: index, &turn) }
    if phase == .foreground, !visits.isOpen, visits.isReportedForeground { beginOpening(of: index, &turn) }
  }

  /// Begins the opening of an app that a desktop has shown in front for long enough.
  mutating func confirmOpening(of index: AppIndex, _ turn: inout Turn) {
    if let shownAt = apps[index].visits.claimOpening(at: turn.now) {
      beginOpening(of: index, shownAt: shownAt, &turn)
    }
  }

  /// Ends the openings that end with the daemon: a signal outlives it, but a lease and the presence on desktops do not.
  mutating func endOpeningsOfDaemon(_ turn: inout Turn) {
    for index in apps.indexes where apps[index].visits.isOpen && !apps[index].visits.isForeground {
      endOpening(of: index, &turn)
    }
  }

  /// Forgets the openings that desktops showed.
  mutating func forgetOpenings(of index: AppIndex, _ turn: inout Turn) {
    turn.decision.changes.history.openingsForgotten[apps.id(at: index)] = true
    // The end of a forgotten opening would end an older opening.
    if !apps[index].visits.isReportedForeground { apps[index].visits.endOpening() }
  }

  /// Records and learns that the user has opened an app, and plans again, because the met habit is not expected again.
  ///
  /// `shownAt` is when a desktop first showed the app in front, boot clock; nil for an opening by signal.
  private mutating func beginOpening(of index: AppIndex, shownAt: Instant? = nil, _ turn: inout Turn) {
    let change = Opening.Change.began(isObserved: shownAt != nil)
    turn.decision.changes.history.openings.append(
      Opening(app: apps.id(at: index), at: shownAt ?? turn.now, change: change))
    apps[index].visits.beginOpening()
    guard apps[index].hasHabits else { return }
    let isFirst = planner.recordOpening(of: apps[index], at: index, judge, now: turn.now)
    // A refresh that the opening asks for, or that is running, plans at its end.
    guard isFirst, apps[index].refreshing == nil, apps[index].requests.pending == nil else { return }
    plan(index, at: turn.now)
  }

  private mutating func endOpening(of index: AppIndex, _ turn: inout Turn) {
    apps[index].visits.endOpening()
    turn.decision.changes.history.openings.append(Opening(app: apps.id(at: index), at: turn.now, change: .ended))
  }
}
