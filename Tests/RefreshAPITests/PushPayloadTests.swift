import RefreshAPI
import Testing

/// What may be pushed, and what of it is refreshd's business (FEATURES E1).
@Suite("A payload") struct PushPayloadTests {
  /// A text, and what is made of it.
  struct Case: CustomTestStringConvertible, Sendable {
    let text: String
    let isToWake: Bool
    var contentID: String?
    var testDescription: String { String(text.prefix(60)) }
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
    Case(text: String(repeating: #"{"a":"#, count: 400) + "1" + String(repeating: "}", count: 400), isToWake: false),
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
    (String(repeating: #"{"a":"#, count: 600) + "1" + String(repeating: "}", count: 600), "JSON"),
    ("[]", "object"), ("42", "object"), ("null", "object"), (#""5ECRET""#, "object"), ("true", "object"),
    (#"{"aps":"5ECRET"}"#, "aps"), (#"{"aps":[1]}"#, "aps"), (#"{"aps":null}"#, "aps"),
    (#"{"aps":{"content-available":"1"}}"#, "content-available"),
    (#"{"aps":{"content-available":2}}"#, "content-available"),
    (#"{"aps":{"content-available":null}}"#, "content-available"),
    (#"{"aps":{"content-available":[1]}}"#, "content-available"),
    (#"{"t":["\q"]}"#, "JSON"), (#"{"content-id":1e999}"#, "neither a string nor a number"),
    (#"{"content-id":null}"#, "neither a string nor a number"),
    (#"{"content-id":true}"#, "neither a string nor a number"),
    (#"{"content-id":["5ECRET"]}"#, "neither a string nor a number"),
    (#"{"content-id":""}"#, "empty"), (#"{"content-id":"a\u0000b"}"#, "control"),
    (#"{"content-id":"a\nb"}"#, "control"),
    (#"{"content-id":"\u001b[2J"}"#, "control"),
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
