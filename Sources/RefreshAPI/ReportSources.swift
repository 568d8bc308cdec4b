extension PushInterface {
  /// Tells the sources as they are now, for ``ManagerInterface/Status``.
  ///
  /// It is forgotten when the connection ends.
  public enum Report: InterfaceMethod {
    /// The name of the method on the socket.
    public static let name = "org.refreshd.Push.Report"

    /// What `Report` is called with.
    public struct Parameters: Codable, Hashable, Sendable {
      /// All of them, in the order of `push.toml`.
      public let sources: [Wire.Source]

      /// Makes it of its parts.
      public init(sources: [Wire.Source]) {
        self.sources = sources
      }
    }

    /// What `Report` answers.
    public struct Reply: Codable, Hashable, Sendable {

      /// Makes it.
      public init() {
      }
    }
  }
}
