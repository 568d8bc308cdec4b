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
