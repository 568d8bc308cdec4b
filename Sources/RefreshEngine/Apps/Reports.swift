/// The holds that keep a due app from starting, and since when.
public struct Waiting: Hashable, Sendable {
  /// When these holds began, boot clock.
  public var since: Instant
  /// The names of the holds, in the order of the verdict.
  public var holds: [Hold.Name]

  /// Makes a wait.
  public init(since: Instant, holds: [Hold.Name]) {
    self.since = since
    self.holds = holds
  }
}

/// The time in which a due app was held: a line of the history besides the refreshes.
public struct WaitRecord: Hashable, Sendable {
  /// The app.
  public var app: AppID
  /// The beginning, boot clock.
  public var since: Instant
  /// The end, boot clock.
  public var until: Instant
  /// The holds.
  public var holds: [Hold.Name]

  /// Makes a record.
  public init(app: AppID, since: Instant, until: Instant, holds: [Hold.Name]) {
    self.app = app
    self.since = since
    self.until = until
    self.holds = holds
  }
}

/// What the daemon reports of one app: its waits, old data, holds that last, and failures in a row.
struct Reports: Hashable, Sendable {
  /// The holds that keep the app from starting, and since when, while it is due and held.
  private(set) var waiting: Waiting?
  /// Whether the daemon has reported that the data is older than ``Policy/staleAfter``.
  private(set) var isStaleReported = false
  /// The time for which a due refresh has been held; only for an app with ``Policy/heldFor``.
  private(set) var episode: HeldEpisode?
  /// The streak of failed refreshes; nil while the last refresh did not fail.
  private(set) var streak: FailureStreak?

  /// Makes it from the saved part.
  init(restoring state: AppState) { restore(state) }

  /// Reads the saved part.
  mutating func restore(_ state: AppState) {
    (waiting, isStaleReported, episode, streak) = (state.waiting, state.isStaleReported, state.episode, state.streak)
  }

  /// Writes the saved part.
  func save(in state: inout AppState) {
    (state.waiting, state.isStaleReported, state.episode, state.streak) = (waiting, isStaleReported, episode, streak)
  }

  /// Records the holds on the due app; empty ends the wait.
  mutating func wait(for holds: [Hold.Name], since now: Instant) {
    waiting = holds.isEmpty ? nil : Waiting(since: now, holds: holds)
  }

  /// Records whether the daemon has reported the age of the data.
  mutating func setStaleReported(_ isReported: Bool) { isStaleReported = isReported }

  /// Begins the episode of holds, unless one lasts.
  mutating func beginEpisode(at now: Instant) { episode = episode ?? HeldEpisode(since: now) }

  /// Ends the episode of holds.
  mutating func endEpisode() { episode = nil }

  /// Records that the daemon has reported the episode.
  mutating func markEpisodeReported() { episode?.isReported = true }

  /// Counts the end of a refresh; `most` is how many refreshes in a row fail before that is reported, nil for never.
  mutating func count(_ record: RefreshRecord, failuresBeforeNotice most: Int32?) -> EndReport {
    var report = EndReport(record: record, failures: streak?.count ?? 0, isFailing: false)
    guard !record.outcome.isFresh else {
      streak = nil
      return report
    }
    var streak = streak ?? FailureStreak(count: 0)
    if streak.count < .max { streak.count += 1 }
    report.failures = streak.count
    report.isFailing = !streak.isReported && most.map { $0 <= streak.count } ?? false
    streak.isReported = streak.isReported || report.isFailing
    self.streak = streak
    return report
  }
}

extension Hold.Name {
  /// Whether the history records the hold; the other holds last only moments, or are not waits.
  var isWorthARecord: Bool {
    switch self {
    case .never, .stopping, .settling, .unsteady, .suspending, .concurrency: false
    default: true
    }
  }
}

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

extension Judge {
  /// When the daemon reports a refresh that is held for too long, boot clock; nil if it has done so, or none is held.
  ///
  /// After sleep or a start, the report waits until the backlog is done.
  func reportsHeldAt(_ app: App, _ verdict: Verdict) -> Instant? {
    guard let episode = app.reports.episode, !episode.isReported, let heldFor = app.policy?.heldFor,
      part(of: verdict, on: app) == .inEpisode
    else { return nil }
    return [episode.since + heldFor, settlingUntil, life.backlogUntil].compactMap(\.self).max()
  }

  /// When the daemon reports that an app's data is stale, boot clock; nil if it has done so, or never will.
  ///
  /// After sleep or a start, the report waits until the backlog is done. A running refresh may make the data fresh.
  func reportsStaleAt(_ app: App) -> Instant? {
    guard let turnsStaleAt = app.turnsStaleAt, !app.reports.isStaleReported, !app.isOff, !life.isStopping,
      app.refreshing == nil
    else {
      return nil
    }
    return [turnsStaleAt, settlingUntil, life.backlogUntil].compactMap(\.self).max()
  }

  /// The meaning of a verdict for an episode.
  enum EpisodePart { case inEpisode, outside, unknown }

  func part(of verdict: Verdict, on app: App) -> EpisodePart {
    guard case .held(let holds, _) = verdict else {
      // A backlog has postponed it: nothing else postpones a due app.
      if case .notDue = verdict, app.requests.pending?.trigger.isDeferrable == true { return .unknown }
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
  /// An app that is off waits for nothing, and the file says when quiet hours end.
  fileprivate var isWorthAReport: Bool {
    switch self {
    case .paused, .constraint, .powerSaver, .noPerformer, .concurrency: true
    case .notConfigured, .misconfigured, .loggedOut, .disabled, .never, .quiet, .settling, .unsteady, .wakeLimit,
      .suspending, .stopping:
      false
    }
  }
}

extension App {
  /// When the data reaches, or reached, the age `stale_after`, boot clock.
  var turnsStaleAt: Instant? {
    guard let staleAfter = policy?.staleAfter, let ageBegan = timetable.ageBegan else { return nil }
    return ageBegan + staleAfter
  }
}

/// Why an app needs a person's attention.
public enum Trouble: Hashable, Sendable {
  /// So many refreshes in a row have failed, as many as ``Policy/failuresBeforeNotice`` or more.
  case failing(Int)
  /// It ran out of time too often, and rests until this instant of the boot clock.
  case resting(until: Instant)
  /// No refresh has succeeded, and the first was due at this instant of the boot clock, over an hour ago.
  case neverWorked(since: Instant)
  /// It should have succeeded again by now, whatever keeps it; its last success began at this instant of the boot clock.
  case late(since: Instant)

  /// How many refreshes in a row fail before an app is failing, where its file wants no notice of that.
  static let usualFailures: Int32 = 2
  /// How long the first success may take, and the least age of data at which an app is late.
  static let patience = Duration.hours(1)
  /// The least age of data at which an app is late whose moments a plan chooses.
  static let patienceForPlan = Duration.hours(72)
}

// Failures in a row: the daemon reports a failing app once for each streak.

/// The streak of an app: its refreshes that have failed one after the other.
///
/// Unlike ``AppState/failures``, it counts every failure, whether a retry is worth it or not.
public struct FailureStreak: Hashable, Sendable {
  /// The number of refreshes, 1 or more.
  public var count: Int32
  /// Whether the daemon has reported that the app is failing.
  public var isReported = false

  /// Makes a streak that is not reported.
  public init(count: Int32) { self.count = count }
}

/// The end of a refresh, for its reports: to the commands of the app's file, its ping and its owner.
public struct EndReport: Hashable, Sendable {
  /// The refresh.
  public var record: RefreshRecord
  /// How many refreshes have failed in a row, including this refresh if it failed.
  public var failures: Int32
  /// Whether this failure makes the app a failing app, by ``Policy/failuresBeforeNotice``.
  public var isFailing: Bool
}
