import RefreshConfig

/// A packet from the bridge to a broker.
enum MQTTRequest: Hashable {
  case connect
  case subscribe([String])
  case unsubscribe([String])
  case acknowledge(UInt16)
  /// The acknowledgement of a message whose topic is not accepted; MQTT 3.1.1 has no word for the reason.
  case refuse(UInt16)
  case ping
  /// The end of the connection, with a reason if the broker broke the protocol.
  case disconnect(MQTTFault.Code?)

  /// The packet numbers of the only requests that have one.
  ///
  /// High numbers, because mochi refuses a number that one of its own messages uses.
  private static let subscription: UInt16 = 0xffff
  private static let unsubscription: UInt16 = 0xfffe

  /// The bytes of the packet.
  func bytes(_ options: BrokerOptions, _ version: MQTTVersion) -> [UInt8] {
    var body = Body()
    switch self {
    case .connect:
      body.add("MQTT")
      let flags: UInt8 = options.login == nil ? 0 : 0xc0
      body.bytes += [version == .v5 ? 5 : 4, flags]
      body.add(options.keepAlive)
      if version == .v5 {
        var properties = Body()
        properties.add(property: 0x11, options.sessionExpiry)
        properties.bytes.append(0x21)
        properties.add(BrokerOptions.receiveMaximum)
        properties.add(property: 0x27, options.maxPacket)
        body.bytes += Self.length(properties.bytes.count) + properties.bytes
      }
      body.add(options.clientID)
      if let login = options.login {
        body.add(login.user)
        body.add(login.password)
      }
      return body.packet(0x10)
    case .subscribe(let filters):
      body.add(Self.subscription)
      if version == .v5 { body.bytes.append(0) }
      for filter in filters {
        body.add(filter)
        // With MQTT 5, retained messages come for a new subscription only.
        body.bytes.append(version == .v5 ? 0x11 : 0x01)
      }
      return body.packet(0x82)
    case .unsubscribe(let filters):
      body.add(Self.unsubscription)
      if version == .v5 { body.bytes.append(0) }
      for filter in filters { body.add(filter) }
      return body.packet(0xa2)
    case .acknowledge(let number):
      body.add(number)
      return body.packet(0x40)
    case .refuse(let number):
      body.add(number)
      if version == .v5 { body.bytes.append(0x90) }
      return body.packet(0x40)
    case .ping: return body.packet(0xc0)
    case .disconnect(let code):
      if version == .v5, let code { body.bytes.append(code.rawValue) }
      return body.packet(0xe0)
    }
  }

  /// A number of seven bits a byte, the lowest first.
  fileprivate static func length(_ count: Int) -> [UInt8] {
    var rest = count
    var bytes: [UInt8] = []
    repeat {
      bytes.append(UInt8(rest & 0x7f) | (rest > 0x7f ? 0x80 : 0))
      rest >>= 7
    } while rest > 0
    return bytes
  }

  /// The longest text of a packet in bytes.
  static let longestText = Int(UInt16.max)

  /// The part of a packet behind its length.
  private struct Body {
    var bytes: [UInt8] = []

    mutating func add(_ number: UInt16) { bytes += [UInt8(number >> 8), UInt8(number & 0xff)] }

    mutating func add(property: UInt8, _ number: UInt32) {
      bytes.append(property)
      add(UInt16(number >> 16))
      add(UInt16(number & 0xffff))
    }

    /// Adds a text of at most ``MQTTRequest/longestText`` bytes.
    mutating func add(_ text: String) {
      let text = text.utf8.prefix(MQTTRequest.longestText)
      add(UInt16(text.count))
      bytes += text
    }

    func packet(_ head: UInt8) -> [UInt8] { [head] + MQTTRequest.length(bytes.count) + bytes }
  }
}
