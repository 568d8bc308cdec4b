extension ManagerInterface {
  /// Puts the configuration in force that is on disk now, all of it or, if there is a mistake, nothing.
  ///
  /// For root, the group `refreshd` and the user of a user's daemon.
  public enum Reload: InterfaceMethod {
    /// The name of the method on the socket.
    public static let name = "org.refreshd.Manager.Reload"

    /// What `Reload` is called with.
    public struct Parameters: Codable, Hashable, Sendable {

      /// Makes it.
      public init() {
      }
    }

    /// What `Reload` answers.
    public struct Reply: Codable, Hashable, Sendable {

      /// Makes it.
      public init() {
      }
    }
  }
}
