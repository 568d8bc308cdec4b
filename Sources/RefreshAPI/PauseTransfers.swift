extension TransfersInterface {
  /// Keeps transfers from going on until Resume, also across restarts; what is there stays.
  ///
  /// All or none; the answer comes when it is stored.
  public enum Pause: InterfaceMethod {
    /// The name of the method on the socket.
    public static let name = "org.refreshd.Transfers.Pause"

    /// What `Pause` is called with.
    public struct Parameters: Codable, Hashable, Sendable {
      /// The numbers of the transfers, at least one.
      public let ids: [Int64]

      /// Makes it of its parts.
      public init(ids: [Int64]) {
        self.ids = ids
      }
    }

    /// What `Pause` answers.
    public struct Reply: Codable, Hashable, Sendable {

      /// Makes it.
      public init() {
      }
    }
  }
}
