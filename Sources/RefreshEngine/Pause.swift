/// For how long the user has paused all apps (FEATURES D7).
public enum Pause: Hashable, Sendable {
  /// Until `resume`.
  case untilResumed
  /// Until an instant, boot clock, or `resume`.
  case until(Instant)
  /// Until the machine is on mains power, or `resume`.
  case untilAC
}
