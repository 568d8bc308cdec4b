import RefreshConfig

/// A packet from a broker.
enum MQTTArrival: Hashable {
  /// The broker's answer to the connect, a reason code of MQTT 5 or a return code of MQTT 3.1.1.
  case answered(code: UInt8, isSessionPresent: Bool, keepAlive: UInt16?)
  /// The broker's answer to the subscription: for each filter the granted quality of service, or a reason code from
  /// 128 on.
  case subscribed(codes: [UInt8])
  case message(BrokerMessage)
  /// The broker closes the connection with a reason code of MQTT 5.
  case dismissed(code: UInt8)
  /// A packet that changes nothing, but shows that the broker is alive.
  case other

  /// Reads a packet.
  ///
  /// Does not copy a payload of more than `largest` bytes.
  init(_ packet: MQTTPacketBuffer.Packet, version: MQTTVersion, largest: Int) throws(MQTTFault) {
    var reader = MQTTReader(packet.body[...])
    switch packet.type {
    case .connack:
      let flags = try reader.byte()
      let code = try reader.byte()
      // A broker of 3.1.1 answers without properties, even to a request in MQTT 5.
      let properties = version == .v5 && !reader.isAtEnd ? try MQTTProperties(from: &reader) : MQTTProperties()
      self = .answered(code: code, isSessionPresent: flags & 1 == 1, keepAlive: properties.keepAlive)
    case .publish: self = .message(try Self.message(packet, &reader, version, largest))
    case .suback:
      _ = try reader.number()
      if version == .v5 { _ = try MQTTProperties(from: &reader) }
      guard !reader.isAtEnd else { throw MQTTFault(.malformed, "the answer to the subscription is empty") }
      self = .subscribed(codes: Array(reader.rest()))
    case .disconnect:
      guard version == .v5 else {
        throw MQTTFault(.protocolError, "a DISCONNECT came, which MQTT 3.1.1 does not allow")
      }
      self = .dismissed(code: reader.isAtEnd ? 0 : try reader.byte())
    case .unsuback, .pingresp: self = .other
    case nil: throw MQTTFault(.malformed, "a packet has the unknown type \(packet.head >> 4)")
    }
  }

  /// A message whose topic is longer than what is kept of a packet; nil for any other.
  private static func longTopic(
    _ packet: MQTTPacketBuffer.Packet, _ reader: MQTTReader, _ quality: UInt8
  ) throws(MQTTFault) -> BrokerMessage? {
    var reader = reader
    let length = Int(try reader.number())
    guard !packet.isWhole, length + (quality > 0 ? 2 : 0) > reader.count, length + 2 <= packet.size else { return nil }
    var behind = MQTTReader(packet.number[...])
    var message = BrokerMessage(packet, topic: "", quality > 0 ? try behind.number() : 0)
    guard quality == 0 || message.packet > 0 else { throw MQTTFault(.malformed, "a message has the number 0") }
    message.hasLongTopic = true
    return message
  }

  private static func message(
    _ packet: MQTTPacketBuffer.Packet, _ reader: inout MQTTReader, _ version: MQTTVersion, _ largest: Int
  ) throws(MQTTFault) -> BrokerMessage {
    let quality = packet.head >> 1 & 3
    guard quality < 2 else {
      throw MQTTFault(.protocolError, "a message has the quality of service \(quality), more than the bridge asked for")
    }
    if let message = try longTopic(packet, reader, quality) { return message }
    let topic = try reader.text()
    guard !topic.isEmpty else { throw MQTTFault(.protocolError, "a message has no topic") }
    let number = quality > 0 ? try reader.number() : 0
    guard quality == 0 || number > 0 else { throw MQTTFault(.malformed, "a message has the number 0") }
    var message = BrokerMessage(packet, topic: topic, number)
    guard packet.isWhole else {
      message.excessiveSize = packet.size - (packet.body.count - reader.count)
      return message
    }
    if version == .v5 { message.urgency = try MQTTProperties(from: &reader).urgency }
    if reader.count > largest { message.excessiveSize = reader.count } else { message.payload = Array(reader.rest()) }
    return message
  }
}

extension BrokerMessage {
  fileprivate init(_ packet: MQTTPacketBuffer.Packet, topic: String, _ number: UInt16) {
    self.init(
      topic: topic, payload: [], packet: number, isRepeated: packet.head & 8 != 0, isRetained: packet.head & 1 != 0)
  }
}

/// The properties of a packet of MQTT 5 that the bridge uses (section 2.2.2).
private struct MQTTProperties: Hashable {
  /// The broker's seconds of silence, which replace the bridge's; nil if the broker does not send them.
  private(set) var keepAlive: UInt16?
  /// The first user property `urgency`.
  private(set) var urgency: String?

  /// The forms of a property's value.
  private enum Form {
    case bytes(Int)
    case variable
    case data
    case text
    case pair
  }

  init() {}

  /// Reads the list; a property that MQTT 5 does not have is a fault, because its length is unknown.
  init(from reader: inout MQTTReader) throws(MQTTFault) {
    let count = try reader.variableNumber()
    var list = MQTTReader(try reader.part(count))
    while !list.isAtEnd { try read(&list) }
  }

  private mutating func read(_ list: inout MQTTReader) throws(MQTTFault) {
    let property = try list.variableNumber()
    guard let form = Self.form(of: property) else {
      throw MQTTFault(.malformed, "a packet has the property \(property), which MQTT 5 does not have")
    }
    switch form {
    case .bytes(2):
      let number = try list.number()
      if property == 0x13, number > 0 { keepAlive = number }
      // The bridge allows the broker no aliases, so the topic of such a message is unknown.
      if property == 0x23 { throw MQTTFault(.protocolError, "a message has an alias for its topic") }
    case .bytes(let count): _ = try list.part(count)
    case .variable: _ = try list.variableNumber()
    case .data: _ = try list.data()
    case .text: _ = try list.text()
    case .pair:
      let name = try list.text()
      let value = try list.text()
      if name == "urgency", urgency == nil { urgency = value }
    }
  }

  private static func form(of property: Int) -> Form? {
    switch property {
    case 0x01, 0x17, 0x19, 0x24, 0x25, 0x28, 0x29, 0x2a: .bytes(1)
    case 0x13, 0x21, 0x22, 0x23: .bytes(2)
    case 0x02, 0x11, 0x18, 0x27: .bytes(4)
    case 0x0b: .variable
    case 0x09, 0x16: .data
    case 0x03, 0x08, 0x12, 0x15, 0x1a, 0x1c, 0x1f: .text
    case 0x26: .pair
    default: nil
    }
  }
}
