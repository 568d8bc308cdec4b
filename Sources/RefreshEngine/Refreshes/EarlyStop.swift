// Stops that come before the deadline of a refresh, and of which it is warned, too.

/// The stop before the machine sleeps.
struct SleepStop: Hashable, Sendable {
  /// When the refresh is asked to end, boot clock.
  let stopAt: Instant
  /// When it is killed, boot clock.
  let killAt: Instant
}

/// The stop for a constraint that is not met any more.
struct LossStop: Hashable, Sendable {
  /// When the refresh is asked to end, boot clock.
  let stopAt: Instant
  /// The condition that it needs, and the one that it has.
  let detail: String
}
