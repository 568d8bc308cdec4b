/// A packet of a broker that the protocol does not allow, or that is too large.
struct MQTTFault: Error, Hashable {
  /// The reason codes of MQTT 5 for such packets (section 2.4).
  enum Code: UInt8 {
    case malformed = 0x81
    case protocolError = 0x82
    case tooLarge = 0x95
  }

  let code: Code
  /// A sentence's end that names the packet and contains nothing of its content.
  let what: String

  init(_ code: Code, _ what: String) { (self.code, self.what) = (code, what) }
}
