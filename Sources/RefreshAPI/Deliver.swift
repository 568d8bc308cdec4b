extension PushInterface {
  /// Takes pushes.
  ///
  /// The answer comes when all that are taken are stored, in one piece.
  public enum Deliver: InterfaceMethod {
    /// The name of the method on the socket.
    public static let name = "org.refreshd.Push.Deliver"

    /// What `Deliver` is called with.
    public struct Parameters: Codable, Hashable, Sendable {
      /// In the order in which they came; at least one and at most 256.
      public let deliveries: [Wire.Delivery]

      /// Makes it of its parts.
      public init(deliveries: [Wire.Delivery]) {
        self.deliveries = deliveries
      }
    }

    /// What `Deliver` answers.
    public struct Reply: Codable, Hashable, Sendable {
      /// What has become of them, in the order of the call.
      public let results: [Wire.DeliveryResult]

      /// Makes it of its parts.
      public init(results: [Wire.DeliveryResult]) {
        self.results = results
      }
    }
  }
}
