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

      /// Makes it of its parts.
      public init(refreshes: [Wire.Refresh]) {
        self.refreshes = refreshes
      }
    }
  }
}
