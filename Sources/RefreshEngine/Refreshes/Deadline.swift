/// The instant at which a refresh is asked to end, and the warning before it.
struct Deadline: Hashable, Sendable {
  /// How long before the deadline the app is warned.
  static let warningLead = Duration.seconds(5)

  /// When the refresh is asked to end, boot clock.
  private(set) var at: Instant

  /// The deadline of a refresh that starts at an instant.
  init(from start: Instant, policy: Policy) { at = start + policy.deadline }

  /// When the app is warned, boot clock.
  var warnsAt: Instant { at - Self.warningLead }

  /// Postpones a deadline that is near or past, for a refresh that survived its daemon.
  ///
  /// A task that ended in time while no daemon ran is reported a moment later; its deadline must not pass before that.
  mutating func postpone(for now: Instant) { at = max(at, now + Self.warningLead) }
}
