extension TransfersInterface {
  /// The transfers that the caller may ask about, in order of their numbers.
  public enum List: InterfaceMethod {
    /// The name of the method on the socket.
    public static let name = "org.refreshd.Transfers.List"

    /// What `List` is called with.
    public struct Parameters: Codable, Hashable, Sendable {
      /// Only those of this app.
      public let app: String?
      /// Only those of sessions of this name.
      public let session: String?

      /// Makes it of its parts.
      public init(app: String? = nil, session: String? = nil) {
        self.app = app
        self.session = session
      }
    }

    /// What `List` answers.
    public struct Reply: Codable, Hashable, Sendable {
      /// The transfers.
      public let transfers: [Wire.Transfer]

      /// Makes it of its parts.
      public init(transfers: [Wire.Transfer]) {
        self.transfers = transfers
      }
    }
  }
}
