extension ManagerInterface {
  /// What became of an app since a moment: every refresh and every wait that is kept, and what there is now.
  public enum Timeline: InterfaceMethod {
    /// The name of the method on the socket.
    public static let name = "org.refreshd.Manager.Timeline"

    /// What `Timeline` is called with.
    public struct Parameters: Codable, Hashable, Sendable {
      /// The id of the app.
      public let app: String
      /// Since when, microseconds of the wall clock; what ended before is left out.
      public let sinceMicroseconds: Int64

      /// Makes it of its parts.
      public init(app: String, sinceMicroseconds: Int64) {
        self.app = app
        self.sinceMicroseconds = sinceMicroseconds
      }

      private enum CodingKeys: String, CodingKey {
        case app
        case sinceMicroseconds = "since_us"
      }
    }

    /// What `Timeline` answers.
    public struct Reply: Codable, Hashable, Sendable {
      /// The refreshes and waits that have ended since, the newest first.
      public let past: [Wire.Past]
      /// Since when it is due and held, and by what; absent when it is not.
      public let waiting: Wire.Waiting?
      /// The refresh that is running, if one is.
      public let running: Wire.Running?

      /// Makes it of its parts.
      public init(past: [Wire.Past], waiting: Wire.Waiting? = nil, running: Wire.Running? = nil) {
        self.past = past
        self.waiting = waiting
        self.running = running
      }
    }
  }
}
