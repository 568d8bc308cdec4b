import CMosquitto

/// A message as the broker gives it.
struct BrokerMessage: Hashable, Sendable {
  var topic: String
  var payload: [UInt8]
  /// The number by which the broker knows an acknowledgement; 0 at quality of service 0, which has none.
  var packet: UInt16
  /// Whether the broker sent it before, as far as it remembers: the DUP flag.
  ///
  /// mosquitto sets it for what came while the bridge was away, too.
  var isRepeated: Bool
  /// Whether it comes because it is the topic's last one, and not because somebody has just sent it.
  var isRetained: Bool
  /// What the sender said of its urgency (MQTT 5, the user property `urgency`).
  var urgency: String?
}

extension BrokerMessage {
  init(_ message: mosquitto_message, _ properties: OpaquePointer?, isRepeated: Bool) {
    topic = message.topic.map { String(cString: $0) } ?? ""
    payload = Array(UnsafeRawBufferPointer(start: message.payload, count: Int(message.payloadlen)))
    packet = UInt16(truncatingIfNeeded: message.mid)
    self.isRepeated = isRepeated
    isRetained = message.retain
    urgency = BrokerProperties.user("urgency", of: properties)
  }
}
