import Foundation
import RefreshAPI
import Testing

/// The payloads that are accepted, and the members that refreshd reads.
@Suite("A payload") struct PushPayloadTests {
  /// A text, and what is made of it.
  struct Case: CustomTestStringConvertible, Sendable {
    let text: String
    let isToWake: Bool
    var contentID: String?
    var testDescription: String { String(text.prefix(60)) }
  }

  /// A `1` in so many lists or objects.
  static func nested(_ open: String, _ close: String, _ levels: Int, _ value: String = "1") -> String {
    String(repeating: open, count: levels) + value + String(repeating: close, count: levels)
  }

  static let right = [
    Case(text: #"{"aps":{"content-available":1}}"#, isToWake: true),
    Case(text: #"{"aps":{"content-available":1},"content-id":42}"#, isToWake: true, contentID: "42"),
    Case(text: #"{"content-id":"näher 🛰️","aps":{"content-available":true}}"#, isToWake: true, contentID: "näher 🛰️"),
    Case(text: #" { "aps" : { "content-available" : 1.0, "alert" : "x" } , "x" : [ null ] } "#, isToWake: true),
    Case(text: #"{"aps":{"content-available":0},"content-id":-1.5}"#, isToWake: false, contentID: "-1.5"),
    Case(text: #"{"aps":{"content-available":false}}"#, isToWake: false),
    Case(text: #"{"aps":{}}"#, isToWake: false),
    Case(text: "{}", isToWake: false),
    Case(text: #"{"content-available":1}"#, isToWake: false),
    Case(text: #"{"content-id":42.0}"#, isToWake: false, contentID: "42"),
    Case(text: #"{"t":1e999,"u":[[],{"v":[{}]}]}"#, isToWake: false),
    Case(text: nested("{\"a\":", "}", 32), isToWake: false),
    Case(text: #"{"x":{"aps":1,"aps":2},"x":[],"\u0061ps":{"content-availabl\u0065":1}}"#, isToWake: true),
    Case(text: #"{"content-id":"\uD83D\udef0 \\\/\u00e4"}"#, isToWake: false, contentID: "🛰 \\/ä"),
    Case(text: #"{"content-id":"👩‍🚀 🛰️"}"#, isToWake: false, contentID: "👩‍🚀 🛰️"),
    Case(text: #"{"content-id":1e3}"#, isToWake: false, contentID: "1000"),
    Case(
      text: #"{"content-id":12345678901234567890123456}"#, isToWake: false, contentID: "12345678901234567890123456"),
    Case(
      text: #"{"content-id":""# + String(repeating: "i", count: 255) + #""}"#, isToWake: false,
      contentID: String(repeating: "i", count: 255)),
    Case(text: #"{"t":""# + String(repeating: "ü", count: 2_044) + #""}"#, isToWake: false),
  ]

  @Test("is taken as it came", arguments: right)
  func isTaken(_ right: Case) throws {
    let payload = try PushPayload(right.text)
    #expect(payload.text == right.text)
    #expect(payload.isToWake == right.isToWake)
    #expect(payload.contentID == right.contentID)
  }

  /// A text that nobody may see again, and a word of the reason for which it is refused.
  static let wrong = [
    ("", "JSON"), ("5ECRET", "JSON"), (#"{"5ECRET":"#, "JSON"), (#"{"aps":{"content-available":1}} 5ECRET"#, "JSON"),
    (#"{'aps':'5ECRET'}"#, "JSON"), ("\u{feff}", "JSON"), ("{\"a\":\"\u{1}\"}", "JSON"),
    (nested("{\"5ECRET\":", "}", 33), "32 levels"), (nested("[", "]", 33), "32 levels"),
    (nested("[", "", 4_096, ""), "32 levels"),
    ("\u{feff}{}", "JSON"), (#"{"a":1,}"#, "JSON"), (#"{"a":[1,]}"#, "JSON"), (#"{"a":01}"#, "JSON"),
    (#"{"a":1.}"#, "JSON"), (#"{"a":+1}"#, "JSON"), (#"{"a":"\ud83d"}"#, "JSON"), (#"{"a":"\udef0\ud83d"}"#, "JSON"),
    (#"{"aps":{"content-available":0},"aps":{"content-available":1}}"#, "aps: it appears twice"),
    (#"{"aps":{},"\u0061ps":{}}"#, "aps: it appears twice"),
    (#"{"content-id":"5ECRET","content-id":2}"#, "content-id: it appears twice"),
    (#"{"aps":{"content-available":1,"content-available":0}}"#, "content-available: it appears twice"),
    ("[]", "object"), ("42", "object"), ("null", "object"), (#""5ECRET""#, "object"), ("true", "object"),
    (#"{"aps":"5ECRET"}"#, "aps"), (#"{"aps":[1]}"#, "aps"), (#"{"aps":null}"#, "aps"),
    (#"{"aps":{"content-available":"1"}}"#, "content-available"),
    (#"{"aps":{"content-available":2}}"#, "content-available"),
    (#"{"aps":{"content-available":null}}"#, "content-available"),
    (#"{"aps":{"content-available":[1]}}"#, "content-available"),
    (#"{"t":["\q"]}"#, "JSON"), (#"{"content-id":1e999}"#, "neither a string nor a plain number"),
    (#"{"content-id":null}"#, "neither a string nor a plain number"),
    (#"{"content-id":true}"#, "neither a string nor a plain number"),
    (#"{"content-id":["5ECRET"]}"#, "neither a string nor a plain number"),
    (#"{"content-id":""}"#, "empty"), (#"{"content-id":"a\u0000b"}"#, "control"),
    (#"{"content-id":"a\nb"}"#, "control"),
    (#"{"content-id":"\u001b[2J"}"#, "control"),
    (#"{"content-id":"a\uffff"}"#, "control"), (#"{"content-id":"\ufdd0"}"#, "control"),
    (#"{"content-id":"\u202e5ECRET\u2066"}"#, "format"), ("{\"content-id\":\"a\u{2028}b\"}", "control"),
    (#"{"content-id":""# + String(repeating: "i", count: 256) + #""}"#, "255"),
    (#"{"t":""# + String(repeating: "x", count: 4_089) + #""}"#, "4097 bytes"),
    (#"{"t":""# + String(repeating: "ü", count: 2_045) + #""}"#, "4098 bytes"),
  ]

  @Test("is refused with the reason, and with nothing of it", arguments: wrong)
  func isRefused(_ text: String, _ reason: String) throws {
    let error = try #require(throws: AppInterface.InvalidPayload.self) { _ = try PushPayload(text) }
    #expect(error.problem.hasPrefix("cannot ") && error.problem.contains(reason), "\(error.problem)")
    #expect(!error.remedy.isEmpty)
    #expect(!(error.problem + error.remedy).contains("5ECRET"))
  }

  /// Four kilobytes of what costs the most: each once cost more than a second.
  static let dear = [
    "{\"t\":" + nested("[", "]", 31, String(repeating: "1,", count: 2_010) + "1") + "}",
    "{\"t\":" + nested("{\"\":", "}", 31, "[" + String(repeating: "{},", count: 1_280) + "1]") + "}",
    "{\"t\":[" + String(repeating: "\"\",", count: 1_350) + "1]}",
    "{" + String(repeating: "\"\\n\":1,", count: 580) + "\"\":1}",
    "{\"t\":\"" + String(repeating: "\\u00e4", count: 680) + "\"}",
    "{\"content-id\":" + String(repeating: "9", count: 4_000) + "}",
    "{\"content-id\":1e-" + String(repeating: "9", count: 4_000) + "}",
    "{\"content-id\":0." + String(repeating: "0", count: 4_000) + "1}",
    nested("[", "", 4_096, ""), nested("{\"\":", "", 1_000, ""), nested("\"", "", 4_096, ""),
    nested(" ", "", 4_096, ""),
  ]

  @Test("as dear as can be costs as good as nothing", .timeLimit(.minutes(1)), arguments: dear)
  func isRead(_ dear: String) {
    #expect((3_900...4_096).contains(dear.utf8.count) || dear.hasPrefix("{"))
    for _ in 0..<256 {
      do throws(AppInterface.InvalidPayload) { _ = try PushPayload(dear) } catch { #expect(!error.problem.isEmpty) }
    }
  }

  @Test("is read as the system's reader reads it", arguments: UInt64(1)...20)
  func agreement(seed: UInt64) {
    var position = seed &* 0x9e37_79b9_7f4a_7c15
    func random(_ bound: Int) -> Int {
      position = position &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(position >> 33) % bound
    }
    func value(_ levels: Int) -> String {
      switch random(levels > 0 ? 8 : 6) {
      case 0: ["null", "true", "false"][random(3)]
      case 1: ["0", "-0", "10", "-1.5", "2e3", "1.0E-2", "7e+1"][random(7)]
      case 2, 3: ["\"\"", "\"a\"", "\"\\n\"", "\"ü🛰\"", "\"\\ud83d\\udef0\"", "\"\\\\\""][random(6)]
      case 4: [" 1 ", "\n\t2", "[]", "{}", "[ ]", "{ }"][random(6)]
      case 5, 6: "[" + (0..<random(4)).map { _ in value(levels - 1) }.joined(separator: ",") + "]"
      default: "{" + (0..<random(4)).map { "\"\($0)\":" + value(levels - 1) }.joined(separator: " , ") + "}"
      }
    }
    let pieces = Array(#"{}[]:,"\u0123456789eE+-.ntrfals "#)
    for _ in 0..<1_000 {
      let right = "{\"t\":" + value(5) + "}"
      var text = Array(right)
      for _ in 0..<random(3) {
        let place = random(text.count)
        switch random(3) {
        case 0: text.remove(at: place)
        case 1: text[place] = pieces[random(pieces.count)]
        default: text.insert(pieces[random(pieces.count)], at: place)
        }
      }
      for text in [right, String(text)] {
        // The one thing that it takes although RFC 8259 does not know it.
        let hasCommaAtEnd = text.contains(#/,\s*[\]}]/#)
        #expect(isTaken(text) == (isTakenBySystem(text) && !hasCommaAtEnd), "seed \(seed): \(text)")
      }
    }
  }

  private func isTaken(_ text: String) -> Bool {
    do throws(AppInterface.InvalidPayload) { _ = try PushPayload(text) } catch { return false }
    return true
  }

  private func isTakenBySystem(_ text: String) -> Bool {
    do { return try JSONSerialization.jsonObject(with: Data(text.utf8)) is [String: Any] } catch { return false }
  }

  @Test("never stops the reader, whatever it is", arguments: UInt64(1)...20)
  func noise(seed: UInt64) {
    var position = seed &* 0x9e37_79b9_7f4a_7c15
    let pieces = [
      "{", "}", "[", "]", ":", ",", "\"aps\"", "\"content-available\"", "\"content-id\"", "1", "0", "true", "null",
      "\"",
      "\\u00", "1e999", "-", " ", "ü", "\u{0}",
    ]
    for _ in 0..<2_000 {
      var text = ""
      for _ in 0..<12 {
        position = position &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        text += pieces[Int(position >> 33) % pieces.count]
      }
      do throws(AppInterface.InvalidPayload) {
        #expect(try PushPayload(text).text == text)
      } catch {
        #expect(!error.problem.isEmpty)
      }
    }
  }
}
