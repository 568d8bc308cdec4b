// Reports a due refresh that is held for too long, once an episode.

/// The time in which a due refresh of an app is held without a break, by any hold.
///
/// It includes sleep and time off. Settling, a backlog, sleep and a stop of the daemon neither begin nor end an episode,
/// because they hide other holds.
public struct HeldEpisode: Hashable, Sendable {
  /// Since when, boot clock.
  public var since: Instant
  /// Whether the daemon has reported it.
  public var isReported = false

  /// Makes an episode that is not reported.
  public init(since: Instant) { self.since = since }
}

extension Engine {
  /// Updates the episode of an app whose file has `held_for`, and reports it when due.
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
      case .held(let holds, _) = verdict
    {
      apps[index].state.episode?.isReported = true
      turn.decision.effects.append(
        .reportHeld(makeRun(of: apps.id(at: index), for: .notice), holds.map(\.name), since: since))
    }
    if apps[index].state.episode != before { turn.decision.changes.apps.insert(apps.id(at: index)) }
  }

  /// When the daemon reports a refresh that is held for too long, boot clock; nil if it has done so, or none is held.
  ///
  /// After sleep or a start, the report waits until the backlog is done.
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
    guard case .held(let holds, _) = verdict else {
      // A backlog has postponed it: nothing else postpones a due app.
      if case .notDue = verdict, app.state.request?.trigger.isDeferrable == true { return .unknown }
      return .outside
    }
    if holds.contains(where: \.hidesOthers) { return .unknown }
    if holds.contains(where: \.isWorthAReport) { return .inEpisode }
    // Settling ends soon; until then some conditions are unknown.
    return holds.contains { $0.name == .settling } ? .unknown : .outside
  }
}

extension Hold {
  /// Whether no other hold is checked while this hold lasts.
  fileprivate var hidesOthers: Bool {
    switch self {
    case .suspending, .stopping, .misconfigured: true
    default: false
    }
  }

  /// Whether a long wait for the end of the hold is worth a report.
  ///
  /// An app that is off waits for nothing, and the file tells the end of quiet hours.
  fileprivate var isWorthAReport: Bool {
    switch self {
    case .paused, .constraint, .powerSaver, .noPerformer, .concurrency: true
    case .notConfigured, .misconfigured, .loggedOut, .disabled, .never, .quiet, .settling, .unsteady, .wakeLimit,
      .suspending, .stopping:
      false
    }
  }
}
