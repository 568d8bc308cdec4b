extension ManagerInterface {
  /// The refreshes of an app that have ended, the newest first.
  public enum History: InterfaceMethod {
    /// The name of the method on the socket.
    public static let name = "org.refreshd.Manager.History"

    /// What `History` is called with.
    public struct Parameters: Codable, Hashable, Sendable {
      /// The id of the app.
      public let app: String
      /// At most so many, from 1; all that are kept if absent.
      public let limit: Int?

      /// Makes it of its parts.
      public init(app: String, limit: Int? = nil) {
        self.app = app
        self.limit = limit
      }
    }

    /// What `History` answers.
    public struct Reply: Codable, Hashable, Sendable {
      /// The refreshes that have ended, the newest first.
      public let refreshes: [Wire.Refresh]
      /// The pushes that were dropped since the oldest of them, the newest first; absent from a daemon that knows no
      /// pushes.
      public let pushesDropped: [Wire.DroppedPush]?

      /// Makes it of its parts.
      public init(refreshes: [Wire.Refresh], pushesDropped: [Wire.DroppedPush]? = nil) {
        self.refreshes = refreshes
        self.pushesDropped = pushesDropped
      }

      private enum CodingKeys: String, CodingKey {
        case refreshes
        case pushesDropped = "pushes_dropped"
      }
    }
  }
}
