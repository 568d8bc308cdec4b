import Testing

@testable import Varlink

/// A message that is no call gets one error and ends its connection, and nothing else.
struct BadInputTests {
  @Test(arguments: notCalls)
  func endsTheConnection(message: Bytes) throws {
    let stage = try Stage()
    let bad = try stage.client(), other = try stage.client()
    #expect(stage.ask(bad, echo("before")) == [echoed("before")])
    send(message.bytes + [0] + Array(echo("after").utf8) + [0], by: bad, on: stage)
    #expect(bad.messages() == [notACall])
    #expect(bad.isAtEnd)
    #expect(stage.heard == ["before"])
    #expect(stage.ask(other, echo("on")) == [echoed("on")])
  }

  @Test(arguments: [510, 600, 100_000])
  func deepParametersAreNoCallOrTheWrongType(depth: Int) throws {
    let stage = try Stage()
    let client = try stage.client()
    let text =
      Array(#"{"method":"org.example.test.Echo","parameters":{"text":"#.utf8) + nested(depth) + Array("}}".utf8)
    send(text + [0], by: client, on: stage)
    let answers = client.messages()
    #expect(answers.count == 1)
    #expect(answers.allSatisfy { $0.contains("InvalidParameter") })
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func noBytesBringTheServerDown(seed: UInt64) throws {
    var random = Seeded(seed: seed)
    let stage = try Stage()
    let other = try stage.client()
    let valid = [echo("x"), call("Count", #","parameters":{"to":3},"more":true"#), call("Refuse", #","oneway":true"#)]
    for _ in 0..<500 {
      var bytes = Array((valid.randomElement(using: &random) ?? "").utf8) + [0]
      for _ in 0...Int.random(in: 0..<8, using: &random) {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
        case 1: bytes.remove(at: place)
        case 2: bytes.insert(Array("{}[]\":,\\u0e-.".utf8).randomElement(using: &random) ?? 0, at: place)
        default: bytes.insert(contentsOf: bytes[place...].prefix(20), at: place)
        }
        if bytes.isEmpty { bytes = [0] }
      }
      let client = try stage.client()
      client.send(bytes + [0])
      stage.settle()
      _ = client.messages()
    }
    #expect(stage.ask(other, echo("on")) == [echoed("on")])
    #expect(stage.server.connectionCount <= 2)
  }

  private func send(_ bytes: [UInt8], by client: RawClient, on stage: Stage) {
    var rest = bytes[...]
    while !rest.isEmpty, case let count = client.send(Array(rest)), count > 0 {
      rest = rest.dropFirst(count)
      stage.settle()
    }
  }
}

/// The answer to a message that is no call.
let notACall = #"{"error":"org.varlink.service.InvalidParameter","parameters":{"parameter":"call"}}"#

/// A message that is named by how it begins.
struct Bytes: CustomTestStringConvertible, Sendable {
  let bytes: [UInt8]
  var testDescription: String { "\(bytes.count) bytes, \(String(decoding: bytes.prefix(40), as: UTF8.self))" }
}

private let notCalls: [Bytes] = (notObjects + notUTF8 + tooDeep).map { Bytes(bytes: $0) }

private let notObjects = [
  "", "{", "null", "5", #""org.example.test.Echo""#, "[]", "{}", "{}{}", "{method:1}", #"{"method":5}"#,
  #"{"method":null}"#, #"{"method":"a.B","oneway":1}"#, #"{"method":"a.B","more":"yes"}"#, #"{"method":"a.B"}}"#,
  #"{"method":"\ud800"}"#, #"{"method":"\x"}"#, #"{"method":"a.B","parameters":"#,
].map { Array($0.utf8) }

/// A wrong byte, also where nobody looks, a sequence cut short, an overlong form, a surrogate, and UTF-16 with its mark.
private let notUTF8: [[UInt8]] = [
  Array(#"{"method":""#.utf8) + [0xFF] + Array(#""}"#.utf8),
  Array(#"{"method":""#.utf8) + [0xE2, 0x82] + Array(#""}"#.utf8),
  Array(#"{"method":"org.example.test.Refuse","other":""#.utf8) + [0xFF] + Array(#""}"#.utf8),
  [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0xFF, 0xFE, 0x7B],
]

/// About the depth that the decoder takes, and far beyond.
private let tooDeep = [511, 512, 513, 514, 100_000].flatMap { depth in
  [nested(depth), nested(depth, ended: false), Array(String(repeating: #"{"a":"#, count: depth).utf8)]
}

private func nested(_ depth: Int, ended: Bool = true) -> [UInt8] {
  Array((String(repeating: "[", count: depth) + (ended ? String(repeating: "]", count: depth) : "")).utf8)
}
