extension PushInterface {
  /// Tells whether the bridge may use the network: at once, and whenever either field changes.
  ///
  /// Only with `more`.
  public enum Watch: InterfaceMethod {
    /// The name of the method on the socket.
    public static let name = "org.refreshd.Push.Watch"

    /// What `Watch` is called with.
    public struct Parameters: Codable, Hashable, Sendable {

      /// Makes it.
      public init() {
      }
    }

    /// What `Watch` answers.
    public struct Reply: Codable, Hashable, Sendable {
      /// Whether the network is there that the configuration asks for, and the machine is not going to sleep.
      ///
      /// While it is not so, the bridge connects to nothing.
      public let mayConnect: Bool
      /// A word for the network in use, which means nothing but itself.
      ///
      /// With another one, what is connected is to connect again at once.
      public let network: String

      /// Makes it of its parts.
      public init(mayConnect: Bool, network: String) {
        self.mayConnect = mayConnect
        self.network = network
      }

      private enum CodingKeys: String, CodingKey {
        case mayConnect = "may_connect"
        case network
      }
    }
  }
}
