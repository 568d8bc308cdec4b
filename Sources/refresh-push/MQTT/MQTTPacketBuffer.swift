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

    /// Where the packet number of a message stands, which is behind its topic.
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
