import RefreshConfig
import Testing

@Suite("Hostile files") struct HostileFilesTests {
  /// Whether the file is answered with apps, or with problems of one line each.
  static func isAnswered(_ bytes: [UInt8], in scratch: Scratch) throws -> Bool {
    try scratch.write("apps.d/x.toml", bytes: bytes)
    let problems = scratch.problems()
    return problems.isEmpty || problems.allSatisfy { !$0.contains("\n") && $0.hasPrefix("apps.d/x.toml") }
  }

  @Test(
    "valid files with changed, added and removed bytes give a configuration or a problem",
    arguments: ["org.example.mail", "org.example.mirror", "org.example.feed"])
  func mutated(id: String) throws {
    let scratch = try Scratch()
    let right = Array(try ShippedFilesTests.text("apps.d/\(id).toml").utf8)
    var state: UInt64 = 7
    func random(below bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % bound
    }
    let interesting = Array("\"'[]{}=.,#\\\n\u{0}1-e\u{e9}".utf8) + [0xff, 0xc0, 0x80]
    for round in 0..<1500 {
      var bytes = right
      for _ in 0...random(below: 4) {
        let place = random(below: bytes.count)
        switch random(below: 3) {
        case 0: bytes[place] = interesting[random(below: interesting.count)]
        case 1: bytes.insert(interesting[random(below: interesting.count)], at: place)
        default: bytes.removeSubrange(place..<min(bytes.count, place + 1 + random(below: 20)))
        }
      }
      try #require(try Self.isAnswered(bytes, in: scratch), "round \(round)")
    }
  }

  static let texts: [String: String] = [
    "deep array": "a = " + String(repeating: "[", count: 100_000),
    "deep table": "a = " + String(repeating: "{ a = ", count: 100_000),
    "deep key": String(repeating: "a.", count: 100_000) + "a = 1",
    "key just not too deep to parse": String(repeating: "a.", count: 1900) + "a = 1",
    "long key": String(repeating: "a", count: 500_000) + " = 1",
    "many keys": (0..<2000).map { "k\($0) = 1\n" }.joined(),
    "long id": "id = \"" + String(repeating: "a", count: 500_000) + "\"",
    "long duration": "deadline = \"" + String(repeating: "1h ", count: 100_000) + "\"",
    "large number": "grace = 99999999999999999999",
  ]

  @Test("deep, long and repeated text is refused", arguments: texts.keys.sorted())
  func large(name: String) throws {
    let text = try #require(Self.texts[name])
    let scratch = try Scratch()
    #expect(try Self.isAnswered(Array(text.utf8), in: scratch))
    #expect(!scratch.problems().isEmpty)
  }

  @Test(
    "text that makes toml++ assert is a problem with a line",
    arguments: [("a = [ } ]", "1:7"), ("\n[[[a]]]", "2:3"), ("[[=", "1:3")])
  func assertion(text: String, place: String) throws {
    let scratch = try Scratch()
    try scratch.write("apps.d/x.toml", text)
    #expect(scratch.problems().count == 1)
    #expect(scratch.problems()[0].hasPrefix("apps.d/x.toml:\(place): cannot read the file as TOML: "))
  }
}
