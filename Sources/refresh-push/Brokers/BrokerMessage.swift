/// A message from a broker.
struct BrokerMessage: Hashable, Sendable {
  var topic: String
  /// The payload; empty if it is too large.
  var payload: [UInt8]
  /// The packet number of the acknowledgement; 0 at quality of service 0.
  var packet: UInt16
  /// Whether the broker marks the message as repeated: the DUP flag.
  var isRepeated: Bool
  /// Whether the broker sends the retained message of the topic, not a new one.
  var isRetained: Bool
  /// The urgency from the sender (MQTT 5, the user property `urgency`).
  var urgency: String?
  /// The size of a payload above the limit, which is not copied; nil for any other.
  var excessiveSize: Int?
  /// Whether the topic is longer than `max_packet`, so that nothing but the packet number is known of the message.
  var hasLongTopic = false
}
