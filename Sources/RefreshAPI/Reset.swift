extension ManagerInterface {
  /// Puts the intervals of the files in force again, and forgets what is learnt.
  ///
  /// All apps or none; the answer comes when it is stored.
  public enum Reset: InterfaceMethod {
    /// The name of the method on the socket.
    public static let name = "org.refreshd.Manager.Reset"

    /// What `Reset` is called with.
    public struct Parameters: Codable, Hashable, Sendable {
      /// The ids of the apps, at least one.
      public let apps: [String]

      /// Makes it of its parts.
      public init(apps: [String]) {
        self.apps = apps
      }
    }

    /// What `Reset` answers.
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
