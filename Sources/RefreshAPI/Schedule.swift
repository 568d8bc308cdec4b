extension ManagerInterface {
  /// Refreshes an app once at a later time, in place of what was scheduled before; its constraints hold then as ever.
  ///
  /// The answer comes when it is stored.
  public enum Schedule: InterfaceMethod {
    /// The name of the method on the socket.
    public static let name = "org.refreshd.Manager.Schedule"

    /// What `Schedule` is called with.
    public struct Parameters: Codable, Hashable, Sendable {
      /// The id of the app.
      public let app: String
      /// Not before then, microseconds of the wall clock, at most ten years from now.
      public let earliestMicroseconds: Int64
      /// Why, for who asks later.
      public let reason: String?

      /// Makes it of its parts.
      public init(app: String, earliestMicroseconds: Int64, reason: String? = nil) {
        self.app = app
        self.earliestMicroseconds = earliestMicroseconds
        self.reason = reason
      }

      private enum CodingKeys: String, CodingKey {
        case app
        case earliestMicroseconds = "earliest_us"
        case reason
      }
    }

    /// What `Schedule` answers.
    public struct Reply: Codable, Hashable, Sendable {
      /// What is scheduled.
      public let oneShot: Wire.OneShot

      /// Makes it of its parts.
      public init(oneShot: Wire.OneShot) {
        self.oneShot = oneShot
      }

      private enum CodingKeys: String, CodingKey {
        case oneShot = "one_shot"
      }
    }
  }
}
