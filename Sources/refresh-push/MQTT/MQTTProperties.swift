/// The properties of a packet of MQTT 5 that the bridge uses (section 2.2.2).
struct MQTTProperties: Hashable {
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
