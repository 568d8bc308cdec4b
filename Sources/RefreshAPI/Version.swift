/// The version of daemon, command and library alike: the only place that says it.
public let refreshdVersion = "0.1.0"

extension ManagerInterface {
  /// The daemon's version.
  ///
  /// Anyone may call.
  public enum Version: InterfaceMethod {
    /// The name of the method on the socket.
    public static let name = "org.refreshd.Manager.Version"

    /// What `Version` is called with.
    public struct Parameters: Codable, Hashable, Sendable {

      /// Makes it.
      public init() {
      }
    }

    /// What `Version` answers.
    public struct Reply: Codable, Hashable, Sendable {
      /// The version, such as `0.1.0`.
      public let version: String
      /// How often the daemon has started on its store, from 1.
      public let start: Int

      /// Makes it of its parts.
      public init(version: String, start: Int) {
        self.version = version
        self.start = start
      }
    }
  }
}
