extension ManagerInterface {
  /// Tells what happens, from the event `watching` on until the connection ends.
  ///
  /// Only with `more`.
  public enum Watch: InterfaceMethod {
    /// The name of the method on the socket.
    public static let name = "org.refreshd.Manager.Watch"

    /// What `Watch` is called with.
    public struct Parameters: Codable, Hashable, Sendable {
      /// The ids of the apps to tell about; all that the caller may ask about if absent.
      public let apps: [String]?

      /// Makes it of its parts.
      public init(apps: [String]? = nil) {
        self.apps = apps
      }
    }

    /// What `Watch` answers.
    public struct Reply: Codable, Hashable, Sendable {
      /// What has happened.
      public let event: Wire.WatchEvent

      /// Makes it of its parts.
      public init(event: Wire.WatchEvent) {
        self.event = event
      }
    }
  }
}
