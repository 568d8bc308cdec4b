// A refresh that waits too long: the daemon reports it, once an episode.

/// A time in which a due refresh of an app is held without a break, whatever holds it.
///
/// Sleep and time off are part of it. Settling, a backlog, sleep and a stop of the daemon neither begin nor end an
/// episode: they hide what else holds the app.
public struct HeldEpisode: Hashable, Sendable {
  /// Since when, boot clock.
  public var since: Instant
  /// Whether the daemon has reported it.
  public var isReported = false

  /// Makes an episode that is not reported.
  public init(since: Instant) { self.since = since }
}

extension Engine {
  /// Keeps the episode of an app whose file asks for a report of it, and reports it when its time has come.
  mutating func noteEpisode(_ index: AppIndex, _ verdict: Verdict, _ turn: inout Turn) {
    // Nothing is judged before the first configuration.
    guard isConfigured else { return }
    let before = apps[index].state.episode
    guard before != nil || apps[index].policy?.heldFor != nil else { return }
    var episode = before
    switch part(of: verdict, on: apps[index]) {
    case .inEpisode: episode = before ?? HeldEpisode(since: turn.now)
    case .unknown: break
    case .outside: episode = nil
    }
    if apps[index].policy?.heldFor == nil { episode = nil }
    if episode != before { apps[index].state.episode = episode }
    if let telling = reportsHeld(index, verdict), telling <= turn.now, let since = episode?.since,
      case .held(let holds) = verdict
    {
      apps[index].state.episode?.isReported = true
      turn.decision.effects.append(.reportHeld(makeID(), apps.id(at: index), holds.map(\.name), since: since))
    }
    if apps[index].state.episode != before { turn.decision.changed.insert(apps.id(at: index)) }
  }

  /// When the daemon reports that a refresh waits too long, boot clock; nil when it has done so, or nothing waits.
  ///
  /// After sleep or a start the backlog is caught up first.
  func reportsHeld(_ app: App, _ verdict: Verdict) -> Instant? {
    guard let episode = app.state.episode, !episode.isReported, let heldFor = app.policy?.heldFor,
      part(of: verdict, on: app) == .inEpisode
    else { return nil }
    return [episode.since + heldFor, settlingUntil, backlogUntil].compactMap(\.self).max()
  }

  /// When the daemon reports that a refresh of the app at an index waits too long.
  func reportsHeld(_ index: AppIndex, _ verdict: Verdict) -> Instant? { reportsHeld(apps[index], verdict) }

  /// The meaning of a verdict for an episode.
  private enum EpisodePart { case inEpisode, outside, unknown }

  private func part(of verdict: Verdict, on app: App) -> EpisodePart {
    guard case .held(let holds) = verdict else {
      // A backlog has postponed it: of an app that is due nothing else does.
      if case .notDue = verdict, app.state.request?.trigger.isDeferrable == true { return .unknown }
      return .outside
    }
    if holds.contains(where: \.hidesOthers) { return .unknown }
    if holds.contains(where: \.isWorthAReport) { return .inEpisode }
    // The settling is over in a moment; until then nobody knows all conditions.
    return holds.contains { $0.name == .settling } ? .unknown : .outside
  }
}

extension Hold {
  /// Whether nothing else is looked at meanwhile.
  fileprivate var hidesOthers: Bool {
    switch self {
    case .suspending, .stopping, .misconfigured: true
    default: false
    }
  }

  /// Whether somebody may want to know of a long wait for its end.
  ///
  /// An app that is off waits for nothing, and the end of quiet hours is in the file.
  fileprivate var isWorthAReport: Bool {
    switch self {
    case .paused, .constraint, .powerSaver, .noPerformer, .concurrency: true
    case .notConfigured, .misconfigured, .loggedOut, .disabled, .never, .quiet, .settling, .unsteady, .suspending,
      .stopping:
      false
    }
  }
}
