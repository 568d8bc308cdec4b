/// The present work of a guard; it ends with the daemon.
///
/// The keeper is a process of the app's owner. It keeps the unit from running for as long as it lives. Its stages, and the
/// cause of each change:
///
///     none      -> keeping    something holds the app
///     none      -> returning  nothing holds the app, and an earlier keeper has left the unit stopped
///     keeping   -> returning  nothing holds the app any more, or the file names another unit, or none
///     keeping   -> none       the keeper has ended by itself; a new one is started after a wait
///     returning -> none       the keeper has returned the unit, or has failed to
struct Guarding: Hashable, Sendable {
  /// A running keeper.
  struct Keeper: Hashable, Sendable {
    let id: RunID
    let unit: GuardedUnit
    /// Whether it was told to return the unit.
    var isReturning: Bool
    /// Whether a condition has held the app since the keeper started; a pause needs no damping.
    var isForCondition = false
  }

  /// How soon after a return a lost condition counts as flapping.
  static let calmSpan = Duration.minutes(10)

  /// The running keeper; nil for none.
  var keeper: Keeper?
  /// The earliest start of the next keeper, boot clock; nil for at once.
  private(set) var retryAt: Instant?
  private var failures: Int32 = 0
  /// How often in a row the conditions were lost soon after a return.
  private var losses: Int32 = 0
  /// When a unit was returned last, boot clock.
  private var returnedAt: Instant?
  /// Since when nothing has held the app while its unit is kept, boot clock; nil while something does.
  private var freeSince: Instant?
  /// The last report of the running keeper.
  var report: String?
  /// Why the last keeper could not keep or return its unit.
  private(set) var trouble: String?

  /// Begins to keep a unit.
  mutating func keep(_ id: RunID, _ unit: GuardedUnit) {
    keeper = Keeper(id: id, unit: unit, isReturning: false)
    (retryAt, freeSince) = (nil, nil)
  }

  /// Begins to return a unit, by the running keeper or by a new one.
  mutating func giveBack(_ id: RunID, _ unit: GuardedUnit) {
    if keeper == nil { keeper = Keeper(id: id, unit: unit, isReturning: true) }
    keeper?.isReturning = true
    retryAt = nil
  }

  /// Notes that a condition holds the app; only the first time for a keeper counts as a loss.
  mutating func noteLoss(at now: Instant) {
    freeSince = nil
    guard let keeper, !keeper.isForCondition else { return }
    self.keeper?.isForCondition = true
    let isSoon = returnedAt.map { now < $0 + Self.calmSpan } ?? false
    losses = isSoon ? BackOff.guards.counting(losses) : 1
  }

  /// Notes that nothing holds the app.
  mutating func noteFree(at now: Instant) { freeSince = freeSince ?? now }

  /// Until when the conditions must hold before the unit is returned, boot clock; nil if they need not.
  func steadyAt(from now: Instant) -> Instant? {
    guard let keeper, keeper.isForCondition, !keeper.isReturning else { return nil }
    return (freeSince ?? now) + BackOff.guards.wait(after: losses)
  }

  /// Applies the end of the keeper.
  mutating func end(_ end: KeeperEnd, at now: Instant) {
    (keeper, report, freeSince) = (nil, nil, nil)
    switch end {
    case .returned(let trouble):
      self.trouble = trouble
      (failures, returnedAt) = (0, now)
    case .failed(let reason):
      trouble = reason
      failures = BackOff.guards.counting(failures)
      retryAt = now + BackOff.guards.wait(after: failures)
    }
  }

  /// Notes that the keeper does its work.
  mutating func noteReport(_ text: String) {
    report = text
    (failures, trouble) = (0, nil)
  }
}
