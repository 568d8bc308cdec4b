extension Wire {
  /// For how long a person has paused all apps.
  ///
  /// Neither field: until Resume.
  public struct PauseState: Codable, Hashable, Sendable {
    /// Until then, microseconds of the wall clock, or Resume.
    public let untilMicroseconds: Int64?
    /// Whether it is until the machine is on mains power, or Resume.
    public let untilAC: Bool

    /// Makes it of its parts.
    public init(untilMicroseconds: Int64? = nil, untilAC: Bool) {
      self.untilMicroseconds = untilMicroseconds
      self.untilAC = untilAC
    }

    private enum CodingKeys: String, CodingKey {
      case untilMicroseconds = "until_us"
      case untilAC = "until_ac"
    }
  }

  /// A refresh that somebody asked for at a later time.
  public struct OneShot: Codable, Hashable, Sendable {
    /// Not before then, microseconds of the wall clock.
    public let earliestMicroseconds: Int64
    /// Why, in the words of who asked; may be empty.
    public let reason: String

    /// Makes it of its parts.
    public init(earliestMicroseconds: Int64, reason: String) {
      self.earliestMicroseconds = earliestMicroseconds
      self.reason = reason
    }

    private enum CodingKeys: String, CodingKey {
      case earliestMicroseconds = "earliest_us"
      case reason
    }
  }
}
