import RefreshEngine

struct ChangesSettle: Invariant {
  static let promise =
    "A change in a watched folder starts one refresh: when it has settled, not before, and not for what the refresh wrote."

  func observe(_ observation: Observation, in world: borrowing World) -> String? {
    guard case .handled(let turn) = observation, let brain = world.brain else { return nil }
    let (book, now) = (world.book, world.instant)
    for new in turn.decision.beginnings where new.trigger == .change {
      guard let before = turn.before[new.app], var app = book.apps[new.app] else { continue }
      // As the event has left it, and the start has not changed it yet.
      (app.run, app.change, app.lastStart, app.writesUntil) = (nil, before.change, before.lastStart, before.writesUntil)
      app.hear(turn.event, of: new.app, at: now)
      guard let due = app.dueByChange(book.limits, at: now) else {
        return "\(new.id) of \(new.app) starts by no change"
      }
      if due > now { return "\(new.id) of \(new.app) starts before the change has settled at \(due)" }
    }
    for (id, app) in book.apps where app.run == nil && app.change?.isSure == true {
      if app.retryFrom != nil || app.mayRetryAtOnce || app.failures > 0 { continue }
      guard let due = app.dueByChange(book.limits, at: now), !book.mayHold(id, at: now), !book.isFull(for: id, at: now)
      else {
        continue
      }
      if due <= now { return "\(id) has a change since \(due) and is \(brain.verdict(on: id, at: now))" }
      guard let wake = brain.nextWake, wake.latest <= due else { return "nothing wakes the daemon at \(due) for \(id)" }
    }
    return nil
  }
}
