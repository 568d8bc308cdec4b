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

extension Engine {
  /// Updates the record of the holds on a due app, and closes it when they change.
  mutating func recordWait(_ index: AppIndex, _ verdict: Verdict, _ turn: inout Turn) {
    var names: [Hold.Name] = []
    if case .held(let holds, _) = verdict, !judge.isKeptByOpenQuestions(apps[index], holds) {
      names = holds.map(\.name).filter(\.isWorthARecord)
    }
    // Nothing is saved about an erased app.
    if apps[index].state.seenAt == nil { names = [] }
    let waiting = apps[index].state.waiting
    guard names != waiting?.holds ?? [] else { return }
    if let waiting {
      turn.decision.changes.history.waits.append(
        WaitRecord(app: apps.id(at: index), since: waiting.since, until: turn.now, holds: waiting.holds))
    }
    apps[index].state.waiting = names.isEmpty ? nil : Waiting(since: turn.now, holds: names)
    turn.decision.changes.apps.insert(apps.id(at: index))
  }
}

extension Hold.Name {
  /// Whether the history records the hold; the other holds last only moments, or are not waits.
  fileprivate var isWorthARecord: Bool {
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

extension Engine {
  /// Updates the episode of an app whose file has `held_for`, and reports it when due.
  mutating func reportEpisode(_ index: AppIndex, _ verdict: Verdict, _ turn: inout Turn) {
    // Nothing is judged before the first configuration.
    guard judge.life.isConfigured else { return }
    let before = apps[index].state.episode
    guard before != nil || apps[index].policy?.heldFor != nil else { return }
    var episode = before
    switch judge.part(of: verdict, on: apps[index]) {
    case .inEpisode: episode = before ?? HeldEpisode(since: turn.now)
    case .unknown: break
    case .outside: episode = nil
    }
    if apps[index].policy?.heldFor == nil { episode = nil }
    if episode != before { apps[index].state.episode = episode }
    if let telling = judge.reportsHeld(apps[index], verdict), telling <= turn.now, let since = episode?.since,
      case .held(let holds, _) = verdict
    {
      apps[index].state.episode?.isReported = true
      turn.decision.effects.append(
        .reportHeld(makeRun(of: apps.id(at: index), for: .notice), holds.map(\.name), since: since))
    }
    if apps[index].state.episode != before { turn.decision.changes.apps.insert(apps.id(at: index)) }
  }

}

extension Judge {
  /// When the daemon reports a refresh that is held for too long, boot clock; nil if it has done so, or none is held.
  ///
  /// After sleep or a start, the report waits until the backlog is done.
  func reportsHeld(_ app: App, _ verdict: Verdict) -> Instant? {
    guard let episode = app.state.episode, !episode.isReported, let heldFor = app.policy?.heldFor,
      part(of: verdict, on: app) == .inEpisode
    else { return nil }
    return [episode.since + heldFor, settlingUntil, life.backlogUntil].compactMap(\.self).max()
  }

  /// When the daemon reports that an app's data is stale, boot clock; nil if it has done so, or never will.
  ///
  /// After sleep or a start, the report waits until the backlog is done. A running refresh may make the data fresh.
  func reportsStale(_ app: App) -> Instant? {
    guard let turnsStale = app.turnsStale, !app.state.isStaleReported, !app.isOff, !life.isStopping,
      app.refreshing == nil
    else {
      return nil
    }
    return [turnsStale, settlingUntil, life.backlogUntil].compactMap(\.self).max()
  }

  /// The meaning of a verdict for an episode.
  enum EpisodePart { case inEpisode, outside, unknown }

  func part(of verdict: Verdict, on app: App) -> EpisodePart {
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

// Reports data older than an app's `stale_after`, once each time.

extension Engine {
  /// Since when the data of an app is older than `stale_after`, boot clock.
  ///
  /// Nil while it is not, and for an app that need not be fresh: logged out, disabled, not configured, or without
  /// ``Policy/staleAfter``.
  public func staleSince(_ id: AppID, at now: Instant) -> Instant? {
    guard let index = apps.index(of: id), !apps[index].isOff else { return nil }
    return apps[index].turnsStale.flatMap { $0 <= now ? $0 : nil }
  }

  /// Reports stale data when due, and clears the report when the data is fresh again.
  mutating func reportStaleness(_ index: AppIndex, _ turn: inout Turn) {
    guard apps[index].state.isStaleReported || apps[index].policy?.staleAfter != nil, apps[index].policy != nil else {
      return
    }
    let id = apps.id(at: index)
    if apps[index].state.isStaleReported {
      guard apps[index].turnsStale.map({ $0 > turn.now }) ?? true else { return }
      apps[index].state.isStaleReported = false
    } else {
      guard let telling = judge.reportsStale(apps[index]), telling <= turn.now, let ageBegan = apps[index].ageBegan
      else {
        return
      }
      apps[index].state.isStaleReported = true
      turn.decision.effects.append(.reportStale(makeRun(of: id, for: .notice), since: ageBegan))
    }
    turn.decision.changes.apps.insert(id)
  }
}

extension App {
  /// When the data reaches, or reached, the age `stale_after`, boot clock.
  var turnsStale: Instant? {
    guard let staleAfter = policy?.staleAfter, let ageBegan else { return nil }
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

extension Engine {
  /// Why an app needs attention at an instant, boot clock; nil if all is well with it.
  ///
  /// An app that is switched off or logged out needs none, nor does a guard. A mistake in its file is the configuration's.
  public func trouble(of id: AppID, at now: Instant) -> Trouble? {
    guard let index = apps.index(of: id), let policy = apps[index].policy, policy.guarded == nil else { return nil }
    let app = apps[index]
    guard !app.isOff else { return nil }
    if let streak = app.state.streak, streak.count >= policy.failuresBeforeNotice ?? Trouble.usualFailures {
      return .failing(Int(streak.count))
    }
    if let until = app.restsUntil, until > now { return .resting(until: until) }
    let isByTime = app.spacing(in: .background, limits: judge.limits) != nil
    guard let freshAt = app.state.freshAt else {
      let first =
        app.state.lastStart.map { isByTime ? app.state.seenAt ?? $0 : $0 }
        ?? app.state.seenAt.flatMap { app.dueByTime(limits: judge.limits, at: $0) }
      return first.flatMap { $0 + Trouble.patience <= now ? .neverWorked(since: $0) : nil }
    }
    let usual = isByTime ? max(app.maxStale, app.isPlanned ? Trouble.patienceForPlan : .zero) + Trouble.patience : nil
    guard let lateAt = app.turnsStale ?? usual.map({ freshAt + $0 }), lateAt <= now else { return nil }
    return .late(since: freshAt)
  }
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

extension Engine {
  /// Counts the end of a refresh, and has it reported if the file asks for that or the app is failing.
  ///
  /// A stopped refresh counts as neither success nor failure, unless its deadline stopped it.
  mutating func noteEnd(_ record: RefreshRecord, _ turn: inout Turn) {
    let id = record.app
    guard let index = apps.index(of: id), let policy = apps[index].policy, !record.isUnfinished else { return }
    let before = apps[index].state.streak
    var report = EndReport(record: record, failures: before?.count ?? 0, isFailing: false)
    if record.outcome.isFresh {
      apps[index].state.streak = nil
    } else {
      var streak = before ?? FailureStreak(count: 0)
      if streak.count < .max { streak.count += 1 }
      report.failures = streak.count
      report.isFailing = !streak.isReported && policy.failuresBeforeNotice.map { $0 <= streak.count } ?? false
      streak.isReported = streak.isReported || report.isFailing
      apps[index].state.streak = streak
    }
    guard policy.reportsEnds || report.isFailing else { return }
    turn.decision.effects.append(.reportEnd(report, id))
  }
}

extension RefreshRecord {
  /// Whether a stop other than the deadline ended a task.
  fileprivate var isUnfinished: Bool {
    tasks.contains { task in
      guard case .failed(.stopped(let reason)) = task.outcome else { return task.isCutShort }
      return reason != .deadline
    }
  }
}
