extension TransfersInterface {
  /// Tells what becomes of transfers until the connection ends.
  ///
  /// Only with `more`. The first answer has all of them, later ones those that have changed, progress twice a second at
  /// most.
  public enum Watch: InterfaceMethod {
    /// The name of the method on the socket.
    public static let name = "org.refreshd.Transfers.Watch"

    /// What `Watch` is called with.
    public struct Parameters: Codable, Hashable, Sendable {
      /// Only those of this app.
      public let app: String?

      /// Makes it of its parts.
      public init(app: String? = nil) {
        self.app = app
      }
    }

    /// What `Watch` answers.
    public struct Reply: Codable, Hashable, Sendable {
      /// First all, then those that have changed.
      public let transfers: [Wire.Transfer]
      /// The numbers of those that are not listed any more; absent if there are none.
      public let forgotten: [Int64]?

      /// Makes it of its parts.
      public init(transfers: [Wire.Transfer], forgotten: [Int64]? = nil) {
        self.transfers = transfers
        self.forgotten = forgotten
      }
    }
  }
}
