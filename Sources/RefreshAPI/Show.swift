extension ManagerInterface {
  /// All about one app.
  public enum Show: InterfaceMethod {
    /// The name of the method on the socket.
    public static let name = "org.refreshd.Manager.Show"

    /// What `Show` is called with.
    public struct Parameters: Codable, Hashable, Sendable {
      /// The id of the app.
      public let app: String

      /// Makes it of its parts.
      public init(app: String) {
        self.app = app
      }
    }

    /// What `Show` answers.
    public struct Reply: Codable, Hashable, Sendable {
      /// The app.
      public let app: Wire.AppDetails

      /// Makes it of its parts.
      public init(app: Wire.AppDetails) {
        self.app = app
      }
    }
  }
}
