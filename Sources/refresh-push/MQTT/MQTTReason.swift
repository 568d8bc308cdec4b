/// The reason codes of MQTT 5 in words (section 2.4).
enum MQTTReason {
  static let sessionTakenOver: UInt8 = 0x8e
  static let packetNumberInUse: UInt8 = 0x91

  /// The words; the number of a code that has none.
  static func words(_ code: UInt8) -> String {
    switch code {
    case 0x80: "unspecified error"
    case 0x81: "malformed packet"
    case 0x82: "protocol error"
    case 0x83: "implementation specific error"
    case 0x87: "not authorized"
    case 0x89: "server busy"
    case 0x8a: "banned"
    case 0x8b: "server shutting down"
    case 0x8c: "bad authentication method"
    case 0x8d: "keep alive timeout"
    case sessionTakenOver: "session taken over"
    case 0x8f: "topic filter invalid"
    case 0x90: "topic name invalid"
    case packetNumberInUse: "packet identifier in use"
    case 0x93: "receive maximum exceeded"
    case 0x95: "packet too large"
    case 0x96: "message rate too high"
    case 0x97: "quota exceeded"
    case 0x98: "administrative action"
    case 0x9c: "use another server"
    case 0x9d: "server moved"
    case 0x9f: "connection rate exceeded"
    case 0xa0: "maximum connect time"
    default: "reason code \(code)"
    }
  }
}
