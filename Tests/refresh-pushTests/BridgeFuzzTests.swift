import FoundationEssentials
import RefreshConfig
import Testing

@testable import refresh_push

/// The bridge reads any bytes of a server within its bounds, and the same in pieces as in one.
///
/// The tests run for REFRESH_FUZZ_SECONDS (2) in all, from REFRESH_FUZZ_SEED (1). A failure names the seed of its round.
struct BridgeFuzzTests {
  private static let parts = 3
  private static let limit = 1024

  private static func number(_ name: String, _ standard: UInt64) -> UInt64 {
    ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) } ?? standard
  }

  private func forEachSeed(_ body: (UInt64, inout FuzzNumbers) -> Void) {
    let end =
      ContinuousClock.now + .milliseconds(Int64(Self.number("REFRESH_FUZZ_SECONDS", 2)) * 1000 / Int64(Self.parts))
    var seed = Self.number("REFRESH_FUZZ_SEED", 1)
    repeat {
      var numbers = FuzzNumbers(seed: seed)
      body(seed, &numbers)
      seed &+= 1
    } while .now < end
  }

  // MARK: MQTT

  private static func text(_ text: String) -> [UInt8] {
    [UInt8(text.utf8.count >> 8), UInt8(text.utf8.count & 0xff)] + text.utf8
  }

  private static func packet(_ head: UInt8, _ body: [UInt8]) -> [UInt8] {
    [head] + (body.count < 128 ? [UInt8(body.count)] : [UInt8(body.count & 0x7f | 0x80), UInt8(body.count >> 7)]) + body
  }

  /// Packets that a broker of either version may send.
  private static let packets: [[UInt8]] = [
    packet(0x20, [0, 0]), packet(0x20, [1, 0, 3, 0x13, 0, 30]),
    packet(0x20, [0, 0, 12, 0x21, 0, 10, 0x27, 0, 0, 4, 0, 0x22, 0, 1, 0x24, 1]), packet(0x90, [0xff, 0xff, 1]),
    packet(0x90, [0xff, 0xff, 0, 1]), packet(0xb0, [0xff, 0xfe]), packet(0xb0, [0xff, 0xfe, 0, 0]), packet(0xd0, []),
    packet(0xe0, [0x8e, 0]), packet(0xe0, []), packet(0x30, text("test/a") + Array("{}".utf8)),
    packet(0x32, text("test/a") + [0, 7] + Array(#"{"aps":{"content-available":1}}"#.utf8)),
    packet(0x3b, text("test/b") + [0, 8, 18, 0x26] + text("urgency") + text("low") + [1, 1] + Array("{}".utf8)),
    packet(0x32, text("test/large") + [0, 9, 0] + [UInt8](repeating: 120, count: 3000)),
  ]

  private struct Reading: Equatable {
    var arrivals: [MQTTArrival] = []
    var fault: MQTTFault?
  }

  private func read(_ pieces: [[UInt8]], _ version: MQTTVersion) -> Reading {
    var buffer = MQTTPacketBuffer(limit: Self.limit)
    var reading = Reading()
    do throws(MQTTFault) {
      for piece in pieces {
        for packet in try buffer.append(piece) {
          #expect(packet.body.count <= Self.limit)
          reading.arrivals.append(try MQTTArrival(packet, version: version, largest: Self.limit / 2))
        }
      }
    } catch {
      reading.fault = error
    }
    return reading
  }

  @Test func packetsOfABroker() {
    forEachSeed { seed, numbers in
      let count = Int.random(in: 1...6, using: &numbers)
      let bytes = (0..<count).flatMap { _ in numbers.damaged(Self.packets.randomElement(using: &numbers) ?? []) }
      for version in [MQTTVersion.v5, .v311] {
        let whole = read([bytes], version)
        let split = read(numbers.pieces(of: bytes), version)
        // A fault in a later packet of the same piece may come before the packets ahead of it are read.
        #expect(split.arrivals.starts(with: whole.arrivals), "seed \(seed)")
        if whole.fault == nil { #expect(split == whole, "seed \(seed)") }
        for case .message(let message) in whole.arrivals {
          #expect(
            message.topic.isEmpty == message.hasLongTopic && message.payload.count <= Self.limit / 2, "seed \(seed)")
        }
      }
    }
  }

  // MARK: ntfy

  private static let lines = [
    #"{"id":"hwQ2YpKdmg01","time":1635528741,"event":"open","topic":"up1"}"#,
    #"{"id":"hwQ2YpKdmg02","time":1635528742,"event":"keepalive","topic":"up1"}"#,
    #"{"id":"hwQ2YpKdmg03","time":1635528743,"event":"message","topic":"up1","message":"{\"aps\":{}}","priority":4}"#,
    #"{"id":"hwQ2YpKdmg04","time":-9223372036854775808,"event":"message","topic":"up1","message":"eyJhIjoxfQ==","encoding":"base64"}"#,
    #"{"id":"hwQ2YpKdmg05","time":9223372036854775807,"event":"message","topic":"up1","message":"é","attachment":{"name":"a"}}"#,
    #"{"event":"poll_request"}"#, "", "<html>", String(repeating: "[", count: 600), String(repeating: "x", count: 1200),
  ].map { Array($0.utf8) }

  @Test func linesOfNtfy() {
    forEachSeed { seed, numbers in
      let count = Int.random(in: 1...6, using: &numbers)
      let bytes = (0..<count).flatMap { _ in
        numbers.damaged((Self.lines.randomElement(using: &numbers) ?? []) + [UInt8(ascii: "\n")])
      }
      var (whole, split) = (LineBuffer(limit: Self.limit), LineBuffer(limit: Self.limit))
      let lines = bytes.withUnsafeBytes { whole.append($0) }
      let others = numbers.pieces(of: bytes).flatMap { piece in piece.withUnsafeBytes { split.append($0) } }
      #expect(lines == others && whole.passedOver == split.passedOver, "seed \(seed)")
      var position = NtfyPosition(nil)
      for line in lines {
        #expect(line.count <= Self.limit, "seed \(seed)")
        switch NtfyEvent(line) {
        case .open(let time): position.open(at: time)
        case .message(let message): position.append(message.time)
        case .keepAlive: position.finishOldOnes()
        case .other, nil: break
        }
      }
      #expect(position.since.map { (Int64($0) ?? 0) > 0 } ?? true, "seed \(seed)")
    }
  }

  // MARK: Event streams

  private static let fields = [
    "data: {\"aps\":{}}\n", "data: a\r\n", "id: 17\n", "id\n", "event: message\r", "retry: 3000\n", ": comment\n", "\n",
    "\r\n",
    "\u{FEFF}data: b\n", "retry: 99999999999999999999\n", "data\n", "x: y\n",
    "data: \(String(repeating: "z", count: EventStreamParser.limit - 4))\n",
  ].map { Array($0.utf8) }

  @Test func eventStreams() {
    forEachSeed { seed, numbers in
      let count = Int.random(in: 1...12, using: &numbers)
      let bytes = (0..<count).flatMap { _ in
        numbers.damaged(Self.fields.randomElement(using: &numbers) ?? [])
      }
      var (whole, split) = (EventStreamParser(), EventStreamParser())
      let events = whole.append(bytes)
      #expect(events == numbers.pieces(of: bytes).flatMap { split.append($0) }, "seed \(seed)")
      #expect(whole == split, "seed \(seed)")
      for event in events {
        // Each wrong byte of UTF-8 takes three as a replacement.
        #expect(event.data.utf8.count <= 3 * EventStreamParser.limit, "seed \(seed)")
      }
    }
  }
}
