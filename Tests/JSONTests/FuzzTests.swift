import Foundation
import JSON
import Testing

/// No bytes stop the reader, and it agrees with another reader about what is JSON.
struct FuzzTests {
  @Test(.timeLimit(.minutes(1)), arguments: 1...10 as ClosedRange<UInt64>)
  func noBytesStopTheReader(seed: UInt64) {
    var random = Random(seed)
    let pieces = Array(#"{}[]:,"\u0123456789eE+-.ntrfals "#.utf8) + [0, 0x1F, 0x7F, 0x80, 0xC3, 0xE2, 0xFF]
    for _ in 0..<2_000 {
      var bytes = Array(random.value(5).utf8)
      for _ in 0..<random.below(6) where !bytes.isEmpty {
        let position = random.below(bytes.count)
        switch random.below(5) {
        case 0: bytes.remove(at: position)
        case 1: bytes[position] = pieces[random.below(pieces.count)]
        case 2: bytes.insert(pieces[random.below(pieces.count)], at: position)
        case 3: bytes.removeSubrange(position...)
        default: bytes.insert(contentsOf: bytes[position...].prefix(16), at: position)
        }
      }
      let isRead = (try? JSONValue(jsonText: bytes)) != nil
      #expect(isRead == Self.isReadByAnother(bytes), "seed \(seed): \(String(decoding: bytes, as: UTF8.self))")
      #expect(isRead == ((try? Skipped(jsonText: Array("{\"x\":".utf8) + bytes + [0x7D])) != nil))
      let error = Result { try [[String: Int]](jsonText: bytes) }
      if case .failure(let error as JSONError) = error { _ = bytes.withUnsafeBytes { error.path(in: $0) } }
    }
  }

  @Test(arguments: 1...10 as ClosedRange<UInt64>)
  func everyCutIsRefused(seed: UInt64) {
    var random = Random(seed)
    let text = Array("{\"t\":\(random.value(5))}".utf8)
    #expect((try? JSONValue(jsonText: text)) != nil)
    for end in 0..<text.count { #expect((try? JSONValue(jsonText: Array(text[..<end]))) == nil) }
  }

  @Test(
    .timeLimit(.minutes(1)),
    arguments: [
      String(repeating: "[", count: 4 << 20), "[" + String(repeating: "1,", count: 2 << 20) + "1]",
      "\"" + String(repeating: "\\u00e4", count: 700_000) + "\"", "\"" + String(repeating: "ü", count: 2 << 20) + "\"",
      "{" + String(repeating: "\"\":1,", count: 800_000) + "\"\":1}", String(repeating: "9", count: 4 << 20),
      String(repeating: " ", count: 4 << 20) + "1", "[" + String(repeating: "[],", count: 1 << 20) + "{}]",
    ])
  func fourMebibytesAreReadInTime(text: String) {
    let bytes = Array(text.utf8)
    _ = try? JSONValue(jsonText: bytes)
    _ = try? Skipped(jsonText: Array("{\"x\":".utf8) + bytes + [0x7D])
    _ = try? Int64(jsonText: bytes)
    _ = try? Double(jsonText: bytes)
    if case .failure(let error as JSONError) = Result(catching: { try [Bool](jsonText: bytes) }) {
      _ = bytes.withUnsafeBytes { error.path(in: $0) }
    }
  }

  @Test(arguments: 1...10 as ClosedRange<UInt64>)
  func theTextIsThatOfAnotherWriter(seed: UInt64) throws {
    var random = Random(seed)
    let encoder = JSONEncoder()
    for _ in 0..<200 {
      let value = (0..<random.below(5)).reduce(into: [String: [String: [Double]]]()) { value, _ in
        value[random.string()] = [random.string(): (0..<random.below(4)).map { _ in random.number() }]
      }
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      #expect(try value.jsonBytes() == Array(try encoder.encode(value)))
      encoder.outputFormatting.insert(.prettyPrinted)
      #expect(try value.jsonText(.document) == String(decoding: try encoder.encode(value), as: UTF8.self))
      #expect(try [String: [String: [Double]]](jsonText: value.jsonBytes()) == value)
    }
    #expect(throws: UnwritableNumber.self) { try [Double.infinity].jsonText(.line) }
    #expect(throws: UnwritableNumber.self) { try Double.nan.jsonText(.line) }
  }

  /// Whether Foundation reads it, and no comma is at an end, which it takes although the RFC does not.
  private static func isReadByAnother(_ bytes: [UInt8]) -> Bool {
    guard let text = String(validating: bytes, as: UTF8.self), !text.hasPrefix("\u{feff}"),
      !text.unicodeScalars.contains("\0"), !text.contains(#/,\s*[\]}]/#)
    else { return false }
    return (try? JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)) != nil
  }
}

/// Numbers that a seed decides.
struct Random {
  private var state: UInt64

  init(_ seed: UInt64) { state = seed &* 0x9e37_79b9_7f4a_7c15 }

  mutating func below(_ bound: Int) -> Int {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int(state >> 33) % bound
  }

  /// A text of JSON.
  mutating func value(_ levels: Int) -> String {
    switch below(levels > 0 ? 8 : 6) {
    case 0: ["null", "true", "false"][below(3)]
    case 1: ["0", "-0", "10", "-1.5", "2e3", "1.0E-2", "7e+1"][below(7)]
    case 2, 3: ["\"\"", "\"a\"", "\"\\n\"", "\"ü🛰\"", "\"\\ud83d\\udef0\"", "\"\\\\\""][below(6)]
    case 4: [" 1 ", "\n\t2", "[]", "{}", "[ ]", "{ }"][below(6)]
    case 5, 6: "[" + (0..<below(4)).map { _ in value(levels - 1) }.joined(separator: ",") + "]"
    default: "{" + (0..<below(4)).map { "\"\($0)\":" + value(levels - 1) }.joined(separator: " , ") + "}"
    }
  }

  mutating func string() -> String {
    String(
      (0..<below(6)).map { _ in ["a", "B", "_", "\"", "\\", "/", "\n", "\u{1}", "ü", "🛰", " "][below(11)] as Character }
    )
  }

  mutating func number() -> Double {
    switch below(4) {
    case 0: Double(below(1000))
    case 1: -Double(below(1 << 30)) / 1024
    case 2: Double(below(1 << 30)) * 1e15
    default: Double(below(1 << 30)) / 1e12
    }
  }
}
