extension ManagerInterface {
  /// Sets intervals in place of the files', until Reset, also across restarts.
  ///
  /// The schedule stays: the next refresh is due one new interval after the last start. All apps or none; the answer
  /// comes when it is stored.
  public enum Set: InterfaceMethod {
    /// The name of the method on the socket.
    public static let name = "org.refreshd.Manager.Set"

    /// What `Set` is called with.
    public struct Parameters: Codable, Hashable, Sendable {
      /// The ids of the apps, at least one.
      public let apps: [String]
      /// Left as it is if absent.
      public let foregroundInterval: String?
      /// Left as it is if absent.
      public let backgroundInterval: String?

      /// Makes it of its parts.
      public init(apps: [String], foregroundInterval: String? = nil, backgroundInterval: String? = nil) {
        self.apps = apps
        self.foregroundInterval = foregroundInterval
        self.backgroundInterval = backgroundInterval
      }

      private enum CodingKeys: String, CodingKey {
        case apps
        case foregroundInterval = "foreground_interval"
        case backgroundInterval = "background_interval"
      }
    }

    /// What `Set` answers.
    public struct Reply: Codable, Hashable, Sendable {
      /// The apps in the order of the call.
      public let apps: [Wire.Intervals]

      /// Makes it of its parts.
      public init(apps: [Wire.Intervals]) {
        self.apps = apps
      }
    }
  }
}
