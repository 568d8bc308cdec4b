extension TransfersInterface {
  /// Ends transfers for good; what is there of a download that is not whole is removed.
  ///
  /// All or none; the answer comes when it is stored.
  public enum Cancel: InterfaceMethod {
    /// The name of the method on the socket.
    public static let name = "org.refreshd.Transfers.Cancel"

    /// What `Cancel` is called with.
    public struct Parameters: Codable, Hashable, Sendable {
      /// The numbers of the transfers, at least one.
      public let ids: [Int64]

      /// Makes it of its parts.
      public init(ids: [Int64]) {
        self.ids = ids
      }
    }

    /// What `Cancel` answers.
    public struct Reply: Codable, Hashable, Sendable {

      /// Makes it.
      public init() {
      }
    }
  }
}
