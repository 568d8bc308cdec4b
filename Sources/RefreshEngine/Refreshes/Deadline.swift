/// The instant at which a refresh is asked to end, and the warning before it.
struct Deadline: Hashable, Sendable {
  /// How long before the deadline the app is warned.
  static let warningLead = Duration.seconds(5)

  /// When the refresh is asked to end, boot clock.
  private(set) var at: Instant
  /// How long the refresh may take.
  private let span: Duration

  /// Makes the deadline of a refresh that starts at an instant.
  init(from start: Instant, policy: Policy) { (at, span) = (start + policy.deadline, policy.deadline) }

  /// Whether the refresh is long enough for a warning.
  var isWarned: Bool { span > Self.warningLead }

  /// Restarts the whole deadline at an instant, when the processes start.
  mutating func restart(at now: Instant) { at = now + span }

  /// Brings the deadline forward to the lead of a warning from now.
  mutating func bringForward(at now: Instant) { at = min(at, now + Self.warningLead) }

  /// When the app is warned, boot clock.
  var warnsAt: Instant { at - Self.warningLead }

  /// Postpones a deadline that is near or past, for a refresh that survived its daemon.
  ///
  /// The launcher reports a task that ended without a daemon a moment later; the deadline must not pass before that.
  mutating func postpone(for now: Instant) { at = max(at, now + Self.warningLead) }
}
