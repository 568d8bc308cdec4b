extension Wire {
  /// A push that no refresh was given yet.
  public struct PushWaiting: Codable, Hashable, Sendable {
    /// Its `content-id`; absent if it has none.
    public let contentID: String?
    /// Its urgency.
    public let urgency: Urgency
    /// When it came, microseconds of the wall clock.
    public let arrivedMicroseconds: Int64
    /// How many pushes it took the place of.
    public let merged: Int
    /// What it waits for, besides what holds the app.
    ///
    /// Others may be added.
    /// - `ready`: nothing.
    /// - `turn`: those before it.
    /// - `limit`: that the limit lets it through.
    /// - `urgency`: the power or the network that its urgency asks for.
    /// - `terminated`: that the app is launched again, which the user has ended.
    /// - `retry`: the time of another attempt, after one that failed.
    public let wait: String
    /// When that is over, microseconds of the wall clock; with `limit` and `retry`.
    public let untilMicroseconds: Int64?

    /// Makes it of its parts.
    public init(
      contentID: String? = nil, urgency: Urgency, arrivedMicroseconds: Int64, merged: Int, wait: String,
      untilMicroseconds: Int64? = nil
    ) {
      self.contentID = contentID
      self.urgency = urgency
      self.arrivedMicroseconds = arrivedMicroseconds
      self.merged = merged
      self.wait = wait
      self.untilMicroseconds = untilMicroseconds
    }

    private enum CodingKeys: String, CodingKey {
      case contentID = "content_id"
      case urgency
      case arrivedMicroseconds = "arrived_us"
      case merged
      case wait
      case untilMicroseconds = "until_us"
    }
  }

  /// A push that no refresh was given, because more than 64 waited and it was the oldest.
  public struct DroppedPush: Codable, Hashable, Sendable {
    /// Its `content-id`; absent if it had none.
    public let contentID: String?
    /// When it came, microseconds of the wall clock.
    public let arrivedMicroseconds: Int64
    /// When it was dropped, microseconds of the wall clock.
    public let droppedMicroseconds: Int64
    /// How many pushes it had taken the place of.
    public let merged: Int

    /// Makes it of its parts.
    public init(contentID: String? = nil, arrivedMicroseconds: Int64, droppedMicroseconds: Int64, merged: Int) {
      self.contentID = contentID
      self.arrivedMicroseconds = arrivedMicroseconds
      self.droppedMicroseconds = droppedMicroseconds
      self.merged = merged
    }

    private enum CodingKeys: String, CodingKey {
      case contentID = "content_id"
      case arrivedMicroseconds = "arrived_us"
      case droppedMicroseconds = "dropped_us"
      case merged
    }
  }

  /// How often pushes may wake an app: `burst` times in any `burst / per_hour` hours.
  public struct PushLimit: Codable, Hashable, Sendable {
    /// How often in an hour in the long run.
    public let perHour: Int
    /// How often in a row.
    public let burst: Int
    /// How often they did in the `burst / per_hour` hours before now.
    public let used: Int

    /// Makes it of its parts.
    public init(perHour: Int, burst: Int, used: Int) {
      self.perHour = perHour
      self.burst = burst
      self.used = used
    }

    private enum CodingKeys: String, CodingKey {
      case perHour = "per_hour"
      case burst
      case used
    }
  }
}
