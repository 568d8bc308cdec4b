import HTTP
import RefreshConfig
import Testing

@testable import refresh_push

/// The packets of MQTT, as bytes of the standard.
struct MQTTPacketTests {
  private func options(_ change: (inout BrokerOptions) -> Void = { _ in }) -> BrokerOptions {
    var options = BrokerOptions(
      host: "host", port: 1883, clientID: "me", filters: ["t/+"], boot: "b1", sessionExpiry: 0x01020304,
      keepAlive: 60, maxPacket: 8192)
    change(&options)
    return options
  }

  @Test func theConnectSaysWhatTheBridgeBears() {
    let five = MQTTRequest.connect.bytes(options(), .v5)
    #expect(
      five == [0x10, 28, 0, 4] + Array("MQTT".utf8) + [5, 0, 0, 60] + [
        13, 0x11, 1, 2, 3, 4, 0x21, 0, 64, 0x27, 0, 0, 0x20, 0,
      ] + [0, 2] + Array("me".utf8))
    let login = options { $0.login = BrokerOptions.Login(user: "u", password: "p") }
    #expect(
      MQTTRequest.connect.bytes(login, .v311)
        == [0x10, 20, 0, 4] + Array("MQTT".utf8) + [4, 0xc0, 0, 60, 0, 2] + Array("me".utf8) + [0, 1, 117, 0, 1, 112])
  }

  @Test func theOtherRequestsAreShort() {
    #expect(MQTTRequest.acknowledge(0x0102).bytes(options(), .v5) == [0x40, 2, 1, 2])
    #expect(MQTTRequest.ping.bytes(options(), .v5) == [0xc0, 0])
    #expect(MQTTRequest.subscribe(["a"]).bytes(options(), .v311) == [0x82, 6, 0xff, 0xff, 0, 1, 97, 1])
    #expect(MQTTRequest.subscribe(["a"]).bytes(options(), .v5) == [0x82, 7, 0xff, 0xff, 0, 0, 1, 97, 0x11])
    #expect(
      MQTTRequest.subscribe(["a", "b"]).bytes(options(), .v311)
        == [0x82, 10, 0xff, 0xff, 0, 1, 97, 1, 0, 1, 98, 1])
    #expect(
      MQTTRequest.unsubscribe(["a", "b"]).bytes(options(), .v311) == [0xa2, 8, 0xff, 0xfe, 0, 1, 97, 0, 1, 98])
    #expect(MQTTRequest.disconnect(nil).bytes(options(), .v5) == [0xe0, 0])
    #expect(MQTTRequest.disconnect(.malformed).bytes(options(), .v5) == [0xe0, 1, 0x81])
    #expect(MQTTRequest.disconnect(.malformed).bytes(options(), .v311) == [0xe0, 0])
    // A length of more than 127 bytes takes two.
    let filter = String(repeating: "a", count: 200)
    #expect(MQTTRequest.subscribe([filter]).bytes(options(), .v311).prefix(3) == [0x82, 0xcd, 0x01])
  }

  private func arrivals(_ bytes: [UInt8], limit: Int = 64, _ version: MQTTVersion = .v5) throws
    -> [MQTTArrival]
  {
    var buffer = MQTTPacketBuffer(limit: limit)
    return try buffer.append(bytes).map { try MQTTArrival($0, version: version, largest: 16) }
  }

  @Test func aMessageHasTopicNumberFlagsAndUrgency() throws {
    let bytes: [UInt8] =
      [0x3b, 25, 0, 1, 97, 0, 7, 17, 0x26, 0, 7] + Array("urgency".utf8) + [0, 3] + Array("low".utf8) + [
        1, 1, 123, 125,
      ]
    var message = BrokerMessage(topic: "a", payload: [123, 125], packet: 7, isRepeated: true, isRetained: true)
    message.urgency = "low"
    #expect(try arrivals(bytes) == [.message(message)])
  }

  @Test func ofAMessageAboveTheBoundOnlyTheStartIsKept() throws {
    let start: [UInt8] = [0x32, 0xff, 0xff, 0xff, 0x7f, 0, 1, 97, 0, 7, 0]
    var buffer = MQTTPacketBuffer(limit: 64)
    #expect(try buffer.append(start).isEmpty)
    let size = 0x0fff_ffff
    let block = [UInt8](repeating: 120, count: 1 << 20)
    var left = size - (start.count - 5)
    var packets: [MQTTPacketBuffer.Packet] = []
    while left > 0 {
      packets += try buffer.append(Array(block.prefix(left)))
      left -= min(left, block.count)
    }
    #expect(packets.map(\.body.count) == [64])
    guard case .message(let message) = try MQTTArrival(try #require(packets.first), version: .v311, largest: 16) else {
      Issue.record("the packet is no message")
      return
    }
    #expect((message.topic, message.packet, message.excessiveSize) == ("a", 7, size - 5))
    #expect(try buffer.append([0xd0, 0]).count == 1)
  }

  /// The number stands behind the topic, before, at and after the end of what is kept, and the bytes come in parts.
  @Test(arguments: [58, 60, 61, 62, 63, 64, 65, 300]) func aTopicAboveTheBoundCostsItsMessageAlone(topic: Int) throws {
    let body =
      [UInt8(topic >> 8), UInt8(topic & 0xff)] + [UInt8](repeating: 97, count: topic) + [1, 2] + Array("rest".utf8)
    let packet = [0x32, UInt8(body.count & 0x7f | 0x80), UInt8(body.count >> 7)] + body
    for part in [1, 2, 7, 1000] {
      var buffer = MQTTPacketBuffer(limit: 64)
      var found: [MQTTPacketBuffer.Packet] = []
      for start in stride(from: 0, to: packet.count, by: part) {
        found += try buffer.append(Array(packet[start..<min(start + part, packet.count)]))
      }
      guard case .message(let message)? = try found.map({ try MQTTArrival($0, version: .v311, largest: 16) }).first
      else {
        Issue.record("the packet is no message")
        return
      }
      #expect(message.packet == 0x0102 && message.hasLongTopic == (topic > 60), "\(topic) \(part)")
      #expect((found.first?.body.count ?? 0) <= 64 && (found.first?.number.count ?? 0) <= 2)
    }
  }

  @Test func aPayloadThatIsTooLargeIsNotCopied() throws {
    let sizes = try [16, 17].map { size in
      let bytes = [0x30, UInt8(size + 4), 0, 1, 97, 0] + [UInt8](repeating: 120, count: size)
      guard case .message(let message) = try #require(try arrivals(bytes).first) else { return (-1, Int?.none) }
      return (message.payload.count, message.excessiveSize)
    }
    #expect(sizes.map(\.0) == [16, 0])
    #expect(sizes.map(\.1) == [nil, 17])
  }

  @Test func anAnswerOfEitherVersionIsRead() throws {
    let answers: [MQTTArrival] = [.answered(code: 0, isSessionPresent: true, keepAlive: 30), .other]
    #expect(try arrivals([0x20, 6, 1, 0, 3, 0x13, 0, 30, 0xd0, 0]) == answers)
    #expect(try arrivals([0x20, 2, 0, 1]) == [.answered(code: 1, isSessionPresent: false, keepAlive: nil)])
    #expect(try arrivals([0x90, 3, 0xff, 0xff, 1], .v311) == [.subscribed(codes: [1])])
    #expect(try arrivals([0x90, 4, 0xff, 0xff, 0, 0x91]) == [.subscribed(codes: [0x91])])
    #expect(try arrivals([0xe0, 1, 0x8e, 0xe0, 0]) == [.dismissed(code: 0x8e), .dismissed(code: 0)])
  }

  @Test(
    "a packet that MQTT does not allow is a fault",
    arguments: [
      [0x30, 7, 0, 1, 97, 2, 99, 0, 0], [0x30, 3, 0, 9, 97], [0x34, 5, 0, 1, 97, 0, 1], [0x32, 5, 0, 1, 97, 0, 0],
      [0x30, 2, 0, 0], [0x90, 100], [0x20, 0], [0x00, 0], [0x10, 0], [0xf0, 0], [0x30, 0xff, 0xff, 0xff, 0xff, 0x01],
      [0x30, 8, 0, 1, 97, 0x80, 0x80, 0x80, 0x80, 1],
    ] as [[UInt8]])
  func faults(_ bytes: [UInt8]) {
    #expect(throws: MQTTFault.self) { try arrivals(bytes) }
  }
}
