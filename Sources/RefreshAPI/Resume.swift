extension ManagerInterface {
  /// Ends the pause of all apps, if there is one.
  ///
  /// The answer comes when it is stored. For root, the group `refreshd` and the user of a user's daemon.
  public enum Resume: InterfaceMethod {
    /// The name of the method on the socket.
    public static let name = "org.refreshd.Manager.Resume"

    /// What `Resume` is called with.
    public struct Parameters: Codable, Hashable, Sendable {

      /// Makes it.
      public init() {
      }
    }

    /// What `Resume` answers.
    public struct Reply: Codable, Hashable, Sendable {

      /// Makes it.
      public init() {
      }
    }
  }
}
