/// Reads the fields of a packet (MQTT 5, section 1.5), and no byte behind its end.
struct MQTTReader {
  private var bytes: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

  var count: Int { bytes.count }
  var isAtEnd: Bool { bytes.isEmpty }

  mutating func byte() throws(MQTTFault) -> UInt8 {
    guard let byte = bytes.popFirst() else { throw MQTTFault(.malformed, "a packet ends within a field") }
    return byte
  }

  /// A number of two bytes.
  mutating func number() throws(MQTTFault) -> UInt16 {
    let high = try byte()
    return UInt16(high) << 8 | UInt16(try byte())
  }

  /// The bytes up to a count.
  mutating func part(_ count: Int) throws(MQTTFault) -> ArraySlice<UInt8> {
    guard count <= bytes.count else { throw MQTTFault(.malformed, "a packet ends within a field") }
    defer { bytes.removeFirst(count) }
    return bytes.prefix(count)
  }

  /// Bytes behind their count of two bytes.
  mutating func data() throws(MQTTFault) -> ArraySlice<UInt8> { try part(Int(try number())) }

  /// A text behind its count of two bytes.
  mutating func text() throws(MQTTFault) -> String {
    let bytes = try data()
    guard !bytes.contains(0), let text = String(validating: bytes, as: UTF8.self) else {
      throw MQTTFault(.malformed, "a text is not UTF-8")
    }
    return text
  }

  /// A number of seven bits a byte, the lowest first.
  mutating func variableNumber() throws(MQTTFault) -> Int {
    var number = 0
    for shift in stride(from: 0, through: 21, by: 7) {
      let byte = try byte()
      number |= Int(byte & 0x7f) << shift
      if byte < 0x80 { return number }
    }
    throw MQTTFault(.malformed, "a number has more than four bytes")
  }

  /// All bytes that are left.
  mutating func rest() -> ArraySlice<UInt8> {
    defer { bytes = [] }
    return bytes
  }
}
