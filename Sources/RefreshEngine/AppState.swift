/// Intervals set at run time, which take the place of the file's until they are reset (FEATURES A8).
public struct Overrides: Hashable, Sendable {
  /// In place of the file's foreground interval, if set.
  public var foregroundInterval: Interval?
  /// In place of the file's background interval, if set.
  public var backgroundInterval: Interval?

  /// Makes overrides; nothing is overridden by default.
  public init(foregroundInterval: Interval? = nil, backgroundInterval: Interval? = nil) {
    self.foregroundInterval = foregroundInterval
    self.backgroundInterval = backgroundInterval
  }
}

/// A refresh that something asked for and that has not started yet.
public struct Request: Hashable, Sendable {
  /// What asked for it.
  public var trigger: Trigger
  /// Not before this instant, boot clock.
  public var earliest: Instant

  /// Makes a request.
  public init(trigger: Trigger, earliest: Instant) {
    self.trigger = trigger
    self.earliest = earliest
  }
}

/// A refresh that somebody asked for at a later time (FEATURES A13).
public struct OneShot: Hashable, Sendable {
  /// Not before this instant, boot clock.
  public var earliest: Instant
  /// Why, in the words of who asked; may be empty.
  public var reason: String

  /// Makes a one-shot.
  public init(earliest: Instant, reason: String) {
    self.earliest = earliest
    self.reason = reason
  }
}

/// What keeps a due app from starting, and since when.
public struct Waiting: Hashable, Sendable {
  /// Since when it is these holds, boot clock.
  public var since: Instant
  /// The names of the holds, in the order of the verdict.
  public var holds: [Hold.Name]

  /// Makes a waiting.
  public init(since: Instant, holds: [Hold.Name]) {
    self.since = since
    self.holds = holds
  }
}

/// A time in which a due app was held: a line of the history beside the refreshes (FEATURES H1).
public struct WaitRecord: Hashable, Sendable {
  /// The app.
  public var app: AppID
  /// From when, boot clock.
  public var since: Instant
  /// Until when, boot clock.
  public var until: Instant
  /// What held it.
  public var holds: [Hold.Name]

  /// Makes a record.
  public init(app: AppID, since: Instant, until: Instant, holds: [Hold.Name]) {
    self.app = app
    self.since = since
    self.until = until
    self.holds = holds
  }
}

/// What holds for all apps and outlives the daemon and the boot.
public struct DeviceState: Hashable, Sendable {
  /// The user's pause of all apps; nil while there is none.
  public var pause: Pause?
  /// What the machine has learnt of all its apps.
  public var learnings: Learnings
  /// The local day up to which the nights have passed, as ``LocalTime/day`` counts; nil before the first.
  public var day: Int?

  /// The state of a device that nobody has touched.
  public init(pause: Pause? = nil, learnings: Learnings = Learnings(budget: Budget(profile: .balanced))) {
    self.pause = pause
    self.learnings = learnings
  }
}

/// The start of a refresh: what is saved before its first process, so that a crash cannot lose it.
public struct Started: Hashable, Sendable {
  /// The refresh.
  public var id: RefreshID
  /// Why it started.
  public var trigger: Trigger
  /// When it started, boot clock.
  public var at: Instant
  /// The session of transfers whose end the app is told with it; nil for another trigger than `transfer`.
  public var session: String?
  /// The push that the app is told with it; nil when it tells none.
  public var push: PushID?

  /// Makes a start.
  public init(id: RefreshID, trigger: Trigger, at: Instant, session: String? = nil, push: PushID? = nil) {
    self.id = id
    self.trigger = trigger
    self.at = at
    self.session = session
    self.push = push
  }
}

/// What the engine knows of an app beside its policy: everything that outlives the daemon and the boot.
///
/// Leases are not here: they end with the connection that holds them.
public struct AppState: Hashable, Sendable {
  /// Whether the last unleased signal of the two says that the user looks at the app.
  public var isForeground: Bool
  /// Whether the app is logged out.
  ///
  /// It keeps its place on the screen meanwhile, for the `login` that may come.
  public var isLoggedOut: Bool
  /// Intervals set at run time.
  public var overrides: Overrides
  /// When the last refresh started, the anchor of the next one; nil before the first.
  public var lastStart: Instant?
  /// When the last refresh that did not fail started: the age of the data; nil before the first.
  public var freshAt: Instant?
  /// A refresh that is asked for.
  public var request: Request?
  /// The refresh that is running, if one is.
  public var running: Started?
  /// When the first configuration named the app, boot clock: the age of data that there never was.
  public var seenAt: Instant?
  /// Whether the user has disabled the app (FEATURES D7).
  public var isDisabled = false
  /// Nothing starts by time before this instant, because the user skipped a refresh; nil when none was.
  public var skippedUntil: Instant?
  /// How many refreshes in a row have failed in a way that is worth a retry (FEATURES C6).
  public var failures: Int32 = 0
  /// When the last refreshes overran their deadline, oldest first, three at most (FEATURES C7); boot clock.
  public var strikes: [Instant] = []
  /// A refresh that somebody asked for at a later time (FEATURES A13).
  public var oneShot: OneShot?
  /// Whether it was told that the data is older than the app's ``Policy/staleAfter`` (FEATURES D8).
  public var isStaleTold = false
  /// What has kept the app waiting, and since when, while it is due and held.
  public var waiting: Waiting?
  /// When the plan has the next background refresh, boot clock; nil while there is no plan (FEATURES C5).
  public var planned: Instant?
  /// Until when a server said that there is nothing newer, boot clock; nil when none did (FEATURES C8).
  public var freshUntil: Instant?
  /// Whether the user has ended the app, and it has not been started since: no push wakes it (FEATURES E6).
  public var isTerminated = false
  /// When the last pushes woke the app, oldest first, boot clock: the window of the limit (FEATURES E2).
  public var pushedAt: [Instant] = []

  /// The state of an app that nobody has heard of yet.
  public init(
    isForeground: Bool = false, isLoggedOut: Bool = false, overrides: Overrides = Overrides(),
    lastStart: Instant? = nil, freshAt: Instant? = nil, request: Request? = nil, running: Started? = nil
  ) {
    self.isForeground = isForeground
    self.isLoggedOut = isLoggedOut
    self.overrides = overrides
    self.lastStart = lastStart
    self.freshAt = freshAt
    self.request = request
    self.running = running
  }
}
