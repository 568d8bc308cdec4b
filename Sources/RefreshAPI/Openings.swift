extension ManagerInterface {
  /// When the user brought an app to the foreground, the newest first.
  public enum Openings: InterfaceMethod {
    /// The name of the method on the socket.
    public static let name = "org.refreshd.Manager.Openings"

    /// What `Openings` is called with.
    public struct Parameters: Codable, Hashable, Sendable {
      /// The id of the app.
      public let app: String

      /// Makes it of its parts.
      public init(app: String) {
        self.app = app
      }
    }

    /// What `Openings` answers.
    public struct Reply: Codable, Hashable, Sendable {
      /// When, microseconds of the wall clock; about 500 are kept.
      public let openingsMicroseconds: [Int64]

      /// Makes it of its parts.
      public init(openingsMicroseconds: [Int64]) {
        self.openingsMicroseconds = openingsMicroseconds
      }

      private enum CodingKeys: String, CodingKey {
        case openingsMicroseconds = "openings_us"
      }
    }
  }
}
