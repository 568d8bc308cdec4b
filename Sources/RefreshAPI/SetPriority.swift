extension TransfersInterface {
  /// Sets which transfers go first.
  ///
  /// All or none; the answer comes when it is stored.
  public enum SetPriority: InterfaceMethod {
    /// The name of the method on the socket.
    public static let name = "org.refreshd.Transfers.SetPriority"

    /// What `SetPriority` is called with.
    public struct Parameters: Codable, Hashable, Sendable {
      /// The numbers of the transfers, at least one.
      public let ids: [Int64]
      /// From -100 to 100; those with the higher one go first.
      public let priority: Int64

      /// Makes it of its parts.
      public init(ids: [Int64], priority: Int64) {
        self.ids = ids
        self.priority = priority
      }
    }

    /// What `SetPriority` answers.
    public struct Reply: Codable, Hashable, Sendable {

      /// Makes it.
      public init() {
      }
    }
  }
}
