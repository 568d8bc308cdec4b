import CMosquitto

/// A message as the broker gives it.
struct BrokerMessage: Hashable, Sendable {
  var topic: String
  /// Empty if it is too large.
  var payload: [UInt8]
  /// The number by which the broker knows an acknowledgement; 0 at quality of service 0, which has none.
  var packet: UInt16
  /// Whether the broker sent it before, as far as it remembers: the DUP flag.
  var isRepeated: Bool
  /// Whether it comes because it is the topic's last one, and not because somebody has just sent it.
  var isRetained: Bool
  /// What the sender said of its urgency (MQTT 5, the user property `urgency`).
  var urgency: String?
  /// How many bytes a payload has that is larger than is taken, and was not copied for that; nil for any other.
  var excessiveSize: Int?
}

extension BrokerMessage {
  init(_ message: mosquitto_message, _ properties: OpaquePointer?, isRepeated: Bool, largest: Int) {
    let size = Int(message.payloadlen)
    topic = message.topic.map { String(cString: $0) } ?? ""
    payload = size > largest ? [] : Array(UnsafeRawBufferPointer(start: message.payload, count: size))
    excessiveSize = size > largest ? size : nil
    packet = UInt16(truncatingIfNeeded: message.mid)
    self.isRepeated = isRepeated
    isRetained = message.retain
    urgency = BrokerProperties.user("urgency", of: properties)
  }
}
