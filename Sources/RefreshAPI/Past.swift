extension Wire {
  /// That an app is due and held.
  public struct Waiting: Codable, Hashable, Sendable {
    /// Since when it is these holds, microseconds of the wall clock.
    public let sinceMicroseconds: Int64
    /// The names of the holds.
    public let holds: [String]

    /// Makes it of its parts.
    public init(sinceMicroseconds: Int64, holds: [String]) {
      self.sinceMicroseconds = sinceMicroseconds
      self.holds = holds
    }

    private enum CodingKeys: String, CodingKey {
      case sinceMicroseconds = "since_us"
      case holds
    }
  }

  /// A time in which an app was due and held.
  public struct Wait: Codable, Hashable, Sendable {
    /// From when, microseconds of the wall clock.
    public let sinceMicroseconds: Int64
    /// Until when, microseconds of the wall clock.
    public let untilMicroseconds: Int64
    /// The names of the holds.
    public let holds: [String]

    /// Makes it of its parts.
    public init(sinceMicroseconds: Int64, untilMicroseconds: Int64, holds: [String]) {
      self.sinceMicroseconds = sinceMicroseconds
      self.untilMicroseconds = untilMicroseconds
      self.holds = holds
    }

    private enum CodingKeys: String, CodingKey {
      case sinceMicroseconds = "since_us"
      case untilMicroseconds = "until_us"
      case holds
    }
  }

  /// Something that happened to an app: either field.
  public struct Past: Codable, Hashable, Sendable {
    /// A refresh that has ended.
    public let refresh: Refresh?
    /// A wait that has ended.
    public let wait: Wait?

    /// Makes it of its parts.
    public init(refresh: Refresh? = nil, wait: Wait? = nil) {
      self.refresh = refresh
      self.wait = wait
    }
  }
}
