extension TransfersInterface {
  /// Takes up a session again, as an app does that was started anew: tells what became of its transfers until the
  /// connection ends.
  ///
  /// Only with `more`. One connection a session: a second one is answered with SessionTaken.
  public enum Rejoin: InterfaceMethod {
    /// The name of the method on the socket.
    public static let name = "org.refreshd.Transfers.Rejoin"

    /// What `Rejoin` is called with.
    public struct Parameters: Codable, Hashable, Sendable {
      /// The id of the app.
      public let app: String
      /// The name of the session.
      public let session: String

      /// Makes it of its parts.
      public init(app: String, session: String) {
        self.app = app
        self.session = session
      }
    }

    /// What `Rejoin` answers.
    public struct Reply: Codable, Hashable, Sendable {
      /// First all of the session, then those that have changed.
      public let transfers: [Wire.Transfer]
      /// Whether none of the session is to be moved any more.
      public let drained: Bool

      /// Makes it of its parts.
      public init(transfers: [Wire.Transfer], drained: Bool) {
        self.transfers = transfers
        self.drained = drained
      }
    }
  }
}
