extension TransfersInterface {
  /// Puts transfers of an app into the queue: all or none.
  ///
  /// They are on disk before the answer comes, and go on whatever becomes of the caller, the daemon and the machine.
  /// Only the owner of the app and root: files are read and written as the owner.
  public enum Enqueue: InterfaceMethod {
    /// The name of the method on the socket.
    public static let name = "org.refreshd.Transfers.Enqueue"

    /// What `Enqueue` is called with.
    public struct Parameters: Codable, Hashable, Sendable {
      /// The id of the app.
      public let app: String
      /// At least one and at most 1,000.
      public let transfers: [Wire.Request]

      /// Makes it of its parts.
      public init(app: String, transfers: [Wire.Request]) {
        self.app = app
        self.transfers = transfers
      }
    }

    /// What `Enqueue` answers.
    public struct Reply: Codable, Hashable, Sendable {
      /// Their numbers, in the order of the call.
      public let ids: [Int64]

      /// Makes it of its parts.
      public init(ids: [Int64]) {
        self.ids = ids
      }
    }
  }
}
