extension TransfersInterface {
  /// Lets transfers go on that were paused, and has those that wait for another try tried at once.
  ///
  /// All or none; the answer comes when it is stored.
  public enum Resume: InterfaceMethod {
    /// The name of the method on the socket.
    public static let name = "org.refreshd.Transfers.Resume"

    /// What `Resume` is called with.
    public struct Parameters: Codable, Hashable, Sendable {
      /// The numbers of the transfers, at least one.
      public let ids: [Int64]

      /// Makes it of its parts.
      public init(ids: [Int64]) {
        self.ids = ids
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
