extension ManagerInterface {
  /// What the daemon counts and measures, for a monitoring system.
  ///
  /// For root, the group `refreshd` and the user of a user's daemon.
  public enum Metrics: InterfaceMethod {
    /// The name of the method on the socket.
    public static let name = "org.refreshd.Manager.Metrics"

    /// What `Metrics` is called with.
    public struct Parameters: Codable, Hashable, Sendable {

      /// Makes it.
      public init() {
      }
    }

    /// What `Metrics` answers.
    public struct Reply: Codable, Hashable, Sendable {
      /// Text in the form of OpenMetrics 1.0, its end marked with `# EOF`.
      public let text: String

      /// Makes it of its parts.
      public init(text: String) {
        self.text = text
      }
    }
  }
}
