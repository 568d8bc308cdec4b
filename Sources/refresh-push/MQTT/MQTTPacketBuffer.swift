/// Splits the bytes of a broker into packets, and keeps no more of a packet than the bound.
///
/// The length of a packet stands at its start, so a packet above the bound is known before its content arrives. The rest
/// of such a message is dropped as it arrives. The message can then be refused and acknowledged, otherwise the broker
/// would send it again on every connection. Any other packet of that size ends the connection.
struct MQTTPacketBuffer {
  /// A packet, or the start of a message that is larger than the bound.
  struct Packet: Hashable {
    /// The first byte: type and flags.
    var head: UInt8
    /// The bytes behind the length, at most as many as the bound.
    var body: [UInt8]
    /// The number of bytes behind the length, kept or not.
    var size: Int
    /// The two bytes of the packet number of a message whose topic is longer than the bound; empty for any other.
    var number: [UInt8] = []

    var type: MQTTPacketType? { MQTTPacketType(rawValue: head >> 4) }
    var isWhole: Bool { body.count == size }

    /// The place of a message's packet number, which is behind its topic.
    fileprivate var numberRange: Range<Int>? {
      guard type == .publish, head & 6 != 0, body.count >= 2 else { return nil }
      let begin = 2 + Int(body[0]) << 8 + Int(body[1])
      return begin..<begin + 2
    }
  }

  /// The most bytes of a packet.
  let limit: Int

  /// The head and the bytes of the length of the next packet.
  private var start: [UInt8] = []
  /// The packet whose bytes arrive.
  private var current: Packet?
  /// The bytes of the current packet that have not arrived yet.
  private var missing = 0

  init(limit: Int) { self.limit = limit }

  /// Appends bytes, split anywhere, and returns the packets that they complete.
  mutating func append(_ bytes: [UInt8]) throws(MQTTFault) -> [Packet] {
    var packets: [Packet] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      if current == nil {
        try appendToStart(rest.removeFirst())
      } else {
        let part = rest.prefix(missing)
        let room = limit - (current?.body.count ?? 0)
        current?.body.append(contentsOf: part.prefix(max(0, room)))
        keepNumber(in: part)
        missing -= part.count
        rest = rest[part.endIndex...]
      }
      if let packet = current, missing == 0 {
        packets.append(packet)
        current = nil
      }
    }
    return packets
  }

  /// Keeps the number of a message whose topic is too long: the message is acknowledged, and only it is lost.
  private mutating func keepNumber(in part: ArraySlice<UInt8>) {
    guard let packet = current, let range = packet.numberRange, range.upperBound > limit else { return }
    let offset = packet.size - missing
    let kept = range.clamped(to: offset..<offset + part.count)
    current?.number += part[part.startIndex + kept.lowerBound - offset..<part.startIndex + kept.upperBound - offset]
  }

  private mutating func appendToStart(_ byte: UInt8) throws(MQTTFault) {
    start.append(byte)
    guard start.count > 1 else { return }
    guard byte < 0x80 else {
      if start.count == 5 { throw MQTTFault(.malformed, "the length of a packet has more than four bytes") }
      return
    }
    var reader = MQTTReader(start.dropFirst())
    let size = try reader.variableNumber()
    let packet = Packet(head: start[0], body: [], size: size)
    guard packet.type != nil else { throw MQTTFault(.malformed, "a packet has the unknown type \(packet.head >> 4)") }
    guard packet.type == .publish || start.count + size <= limit else {
      throw MQTTFault(.tooLarge, "a packet has \(start.count + size) bytes, more than max_packet (\(limit))")
    }
    start.removeAll(keepingCapacity: true)
    (current, missing) = (packet, size)
  }
}

/// The types of packets that a broker may send to the bridge (MQTT 5, section 2.1.2).
enum MQTTPacketType: UInt8 {
  case connack = 2
  case publish = 3
  case suback = 9
  case unsuback = 11
  case pingresp = 13
  case disconnect = 14
}

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
