extension ManagerInterface {
  /// The daemon itself: is all well, what is next.
  public enum Status: InterfaceMethod {
    /// The name of the method on the socket.
    public static let name = "org.refreshd.Manager.Status"

    /// What `Status` is called with.
    public struct Parameters: Codable, Hashable, Sendable {

      /// Makes it.
      public init() {
      }
    }

    /// What `Status` answers.
    public struct Reply: Codable, Hashable, Sendable {
      /// The daemon.
      public let status: Wire.DaemonStatus

      /// Makes it of its parts.
      public init(status: Wire.DaemonStatus) {
        self.status = status
      }
    }
  }
}
