/// Judges apps and transfers; a verdict depends on this value and on the app or the transfer, and on nothing else.
///
/// It holds the bounds, the clock, the life of the daemon and the machine, the conditions, the user's pause and the
/// running refreshes. Only the judge decides whether an app is refreshed.
struct Judge: Sendable {
  /// The stable offsets of this machine.
  let spread: Spread
  /// The bounds in force.
  private(set) var limits = Limits()
  /// The wall clock and the time zone.
  private(set) var clock: LocalClock
  /// The life of the daemon and the machine.
  private(set) var life = Life()
  /// The conditions of the machine, as far as they have been observed.
  private(set) var conditions = Conditions()
  /// The user's pause of all apps; nil without a pause.
  private(set) var pause: Pause?
  /// The running refreshes and their slots.
  var running = Running()

  init(spread: Spread, clock: LocalClock, pause: Pause?) {
    (self.spread, self.clock, self.pause) = (spread, clock, pause)
  }

  /// The life of the daemon and the machine, as far as it keeps refreshes from starting.
  struct Life: Hashable, Sendable {
    /// When the first configuration came into force; nil before.
    fileprivate(set) var configuredAt: Instant?
    /// Whether the daemon is stopping.
    fileprivate(set) var isStopping = false
    /// Whether the machine is going to sleep.
    fileprivate(set) var isSuspending = false
    /// When the machine last started or woke up, boot clock; nil if neither happened since the daemon began.
    fileprivate(set) var resumedAt: Instant?
    /// When the last app of the last backlog is due, boot clock; nil before the first backlog.
    fileprivate(set) var backlogUntil: Instant?

    /// Whether a configuration is in force.
    var isConfigured: Bool { configuredAt != nil }
  }

  // MARK: - Changes

  /// Puts other bounds in force.
  mutating func configure(_ limits: Limits) { self.limits = limits }

  /// Records that a configuration is in force.
  mutating func markConfigured(at now: Instant) { life.configuredAt = life.configuredAt ?? now }

  /// Applies a condition that has changed.
  mutating func apply(_ observation: Observation) { conditions.apply(observation) }

  /// Pauses all apps, or ends the pause; false if nothing changes.
  ///
  /// On mains power, a pause until then is over at once.
  mutating func setPause(_ pause: Pause?) -> Bool {
    let isOver = pause == .untilAC && conditions.power.value?.onBattery == false
    let before = self.pause
    self.pause = isOver ? nil : pause
    return self.pause != before
  }

  /// Lets nothing start from now on.
  mutating func stop() { life.isStopping = true }

  /// Lets nothing start until the resume.
  mutating func suspend() { life.isSuspending = true }

  /// Lets the machine settle, and then lets refreshes start again.
  mutating func resume(at now: Instant) { (life.resumedAt, life.isSuspending) = (now, false) }

  /// Holds back reports until the last app of a backlog is due.
  mutating func awaitBacklog(until end: Instant) { life.backlogUntil = end }

  /// Sets the wall clock.
  mutating func setWall(_ offset: Duration) { clock.wallOffset = offset }

  /// Sets the time zone.
  mutating func setZone(_ zone: Zone) { clock.zone = zone }

  /// Records that it is known how long the machine was off.
  mutating func settleClock() { clock.late = nil }

  // MARK: - Verdicts

  /// Judges an app at an instant of the boot clock.
  func verdict(on app: App, at now: Instant) -> Verdict {
    if app.policy?.guarded != nil { return guardVerdict(on: app, at: now) }
    if let refreshing = app.refreshing { return .refreshing(refreshing.started.id) }
    let lasting = lastingHolds(on: app)
    guard lasting.isEmpty else { return .held(lasting, due: due(of: app, at: now)) }
    guard let due = due(of: app, at: now) else { return .held([.never]) }
    guard due.window.earliest <= now else { return app.verdict(waitingFor: due, at: now) }
    let holds = holds(on: app, for: due.trigger, at: now)
    guard holds.isEmpty else { return .held(holds, due: due) }
    return hasSlot(of: app.policy?.owner ?? 0) ? .ready(due) : .held([.concurrency], due: due)
  }

  /// The next due refresh of an app.
  func due(of app: App, at now: Instant) -> Due? {
    guard app.policy?.guarded == nil else { return nil }
    let push = app.mailbox.pushes.isEmpty ? nil : nextPush(of: app, at: now)?.earliest
    guard let due = app.due(limits: limits, spread: spread, push: push, at: now) else { return nil }
    return app.policy?.quiet.map { endingBefore($0, due) } ?? due
  }

  /// Whether a user may have one more refresh.
  func hasSlot(of user: UInt32) -> Bool { running.hasSlot(of: user, limits) }

  /// Until when the machine settles after boot or resume, boot clock; nil without either since the daemon began.
  var settlingUntil: Instant? { life.resumedAt.map { $0 + limits.settle } }
}
