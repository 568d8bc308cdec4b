/// The instant at which a refresh is asked to end, and the warning before it.
struct Deadline: Hashable, Sendable {
  /// How long before the deadline the app is warned.
  static let warningLead = Duration.seconds(5)

  /// When the refresh is asked to end, boot clock.
  private(set) var at: Instant
  /// How long the refresh may take.
  private let span: Duration

  /// The deadline of a refresh that starts at an instant.
  init(from start: Instant, policy: Policy) { (at, span) = (start + policy.deadline, policy.deadline) }

  /// Whether there is time for a warning before it.
  var isWarned: Bool { span > Self.warningLead }

  /// Counts the whole deadline from an instant, at which the processes start.
  mutating func restart(at now: Instant) { at = now + span }

  /// Brings the deadline forward, to the time of a warning from now.
  mutating func bringForward(at now: Instant) { at = min(at, now + Self.warningLead) }

  /// When the app is warned, boot clock.
  var warnsAt: Instant { at - Self.warningLead }

  /// Postpones a deadline that is near or past, for a refresh that survived its daemon.
  ///
  /// A task that ended in time while no daemon ran is reported a moment later; its deadline must not pass before that.
  mutating func postpone(for now: Instant) { at = max(at, now + Self.warningLead) }
}
