extension ManagerInterface {
  /// Reads the configuration as Reload would and says every mistake, but changes nothing.
  ///
  /// For root, the group `refreshd` and the user of a user's daemon.
  public enum Check: InterfaceMethod {
    /// The name of the method on the socket.
    public static let name = "org.refreshd.Manager.Check"

    /// What `Check` is called with.
    public struct Parameters: Codable, Hashable, Sendable {

      /// Makes it.
      public init() {
      }
    }

    /// What `Check` answers.
    public struct Reply: Codable, Hashable, Sendable {
      /// Empty when there is no mistake.
      public let problems: [Wire.Problem]

      /// Makes it of its parts.
      public init(problems: [Wire.Problem]) {
        self.problems = problems
      }
    }
  }
}
