extension WorkerInterface {
  /// Takes up the work of a worker: orders come until `finish`.
  ///
  /// Only with `more`. When the connection ends otherwise, the worker makes durable what it has and ends.
  public enum Work: InterfaceMethod {
    /// The name of the method on the socket.
    public static let name = "org.refreshd.Worker.Work"

    /// What `Work` is called with.
    public struct Parameters: Codable, Hashable, Sendable {
      /// What the worker found in its environment as REFRESH_TOKEN.
      public let token: String

      /// Makes it of its parts.
      public init(token: String) {
        self.token = token
      }
    }

    /// What `Work` answers.
    public struct Reply: Codable, Hashable, Sendable {
      /// What to do, in this order.
      public let orders: [Wire.Order]

      /// Makes it of its parts.
      public init(orders: [Wire.Order]) {
        self.orders = orders
      }
    }
  }
}
