extension ManagerInterface {
  /// Passes over the next refresh of each app that would start by time; what else asks for one still does.
  ///
  /// Exactly one: while it is still ahead, another call changes nothing.
  ///
  /// All apps or none; the answer comes when it is stored.
  public enum Skip: InterfaceMethod {
    /// The name of the method on the socket.
    public static let name = "org.refreshd.Manager.Skip"

    /// What `Skip` is called with.
    public struct Parameters: Codable, Hashable, Sendable {
      /// The ids of the apps, at least one.
      public let apps: [String]

      /// Makes it of its parts.
      public init(apps: [String]) {
        self.apps = apps
      }
    }

    /// What `Skip` answers.
    public struct Reply: Codable, Hashable, Sendable {
      /// The apps in the order of the call.
      public let apps: [Wire.App]
      /// The ids of those for which nothing changed: the next refresh was passed over before, or time starts none.
      public let unchanged: [String]

      /// Makes it of its parts.
      public init(apps: [Wire.App], unchanged: [String]) {
        self.apps = apps
        self.unchanged = unchanged
      }
    }
  }
}
