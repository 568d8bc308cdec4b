import RefreshEngine

struct LongWaitsAreToldOnce: Invariant {
  static let promise = "A due refresh that is held for longer than its file wants is told of, once in each such time."
  /// Since when each app is due and held.
  private var since: [AppID: Instant] = [:]
  /// The apps whose long wait was reported, and those whose report is saved.
  private var told: Set<AppID> = []
  private var saved: Set<AppID> = []
  /// The latest end of the last backlog: until then the apps have their chance.
  private var chancesUntil: Instant?

  mutating func observe(_ observation: Observation, in world: borrowing World) -> String? {
    guard let brain = world.brain else {
      told = saved
      return nil
    }
    switch observation {
    case .daemonStarted:
      chancesUntil = world.instant
      since = [:]
      for id in world.ids { since[id] = brain.state(of: id)?.episode?.since }
    case .saved(let changes):
      for id in changes.apps {
        if told.contains(id) { saved.insert(id) } else { saved.remove(id) }
      }
    case .handled(let turn):
      switch turn.event {
      // Nothing is judged before the first configuration.
      case .survived: return nil
      case .configured, .resumed, .clockStepped:
        chancesUntil = max(world.instant, world.book.settlingUntil ?? world.instant) + .minutes(5)
      default: break
      }
      return observe(turn, brain, in: world)
    default: break
    }
    return nil
  }

  private mutating func observe(_ turn: Turn, _ brain: Brain, in world: borrowing World) -> String? {
    let now = world.instant
    for id in world.ids {
      // The time off of a machine with a late clock moves earlier times.
      if turn.event.isClockStep, since[id] != nil { since[id] = brain.state(of: id)?.episode?.since ?? since[id] }
      let heldFor = world.book.apps[id]?.policy?.heldFor
      // Without such a time nothing is expected, whatever the verdict is.
      var part = heldFor == nil ? .over : Self.part(of: brain.verdict(on: id, at: now))
      // An app in a backlog first waits for its turn.
      if let asked = brain.state(of: id)?.request, [.interval, .catchUp, .retry].contains(asked.trigger),
        case .notDue = brain.verdict(on: id, at: now)
      {
        part = .hidden
      }
      if heldFor == nil || part == .over {
        since[id] = nil
        told.remove(id)
      } else if part == .held, since[id] == nil {
        since[id] = now
      }
      let reports = turn.decision.effects.compactMap { effect in
        if case .reportHeld(let run, _, let since) = effect, run.app == id { since } else { nil }
      }
      for report in reports {
        guard let since = since[id], let heldFor, part == .held else { return "\(id) is told of and does not wait" }
        if report != since { return "\(id) is told of as if it waited since \(report), not \(since)" }
        if since + heldFor > now { return "\(id) is told of too early" }
        if !told.insert(id).inserted { return "\(id) is told of twice" }
      }
      guard let chancesUntil, chancesUntil < now, part == .held, let since = since[id], let heldFor else { continue }
      if since + heldFor <= now, !told.contains(id) { return "\(id) waits since \(since) and nobody is told" }
    }
    return nil
  }

  /// The meaning of a verdict for a wait.
  private enum Part { case held, hidden, over }

  private static func part(of verdict: Verdict) -> Part {
    guard case .held(let holds, _) = verdict else { return .over }
    let names = Set(holds.map(\.name))
    if !names.isDisjoint(with: [.suspending, .stopping, .misconfigured]) { return .hidden }
    let conditions: [Hold.Name] = [.network, .power, .idle, .calm, .mounted, .present, .reachable, .when]
    if !names.isDisjoint(with: conditions + [.paused, .powerSaver, .noPerformer, .concurrency]) { return .held }
    return names.contains(.settling) ? .hidden : .over
  }
}
