extension ManagerInterface {
  /// Keeps apps from being refreshed, also when a person asks, until Enable, also across restarts.
  ///
  /// What is running is stopped. All apps or none; the answer comes when it is stored.
  public enum Disable: InterfaceMethod {
    /// The name of the method on the socket.
    public static let name = "org.refreshd.Manager.Disable"

    /// What `Disable` is called with.
    public struct Parameters: Codable, Hashable, Sendable {
      /// The ids of the apps, at least one.
      public let apps: [String]

      /// Makes it of its parts.
      public init(apps: [String]) {
        self.apps = apps
      }
    }

    /// What `Disable` answers.
    public struct Reply: Codable, Hashable, Sendable {
      /// The apps in the order of the call.
      public let apps: [Wire.App]

      /// Makes it of its parts.
      public init(apps: [Wire.App]) {
        self.apps = apps
      }
    }
  }
}
