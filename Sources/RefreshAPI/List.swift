extension ManagerInterface {
  /// All apps that the caller may ask about: those with stale data first, each by id.
  public enum List: InterfaceMethod {
    /// The name of the method on the socket.
    public static let name = "org.refreshd.Manager.List"

    /// What `List` is called with.
    public struct Parameters: Codable, Hashable, Sendable {

      /// Makes it.
      public init() {
      }
    }

    /// What `List` answers.
    public struct Reply: Codable, Hashable, Sendable {
      /// The apps: those with stale data first, each by id.
      public let apps: [Wire.App]

      /// Makes it of its parts.
      public init(apps: [Wire.App]) {
        self.apps = apps
      }
    }
  }
}
