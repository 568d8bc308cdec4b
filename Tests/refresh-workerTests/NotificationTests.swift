import JSON
import Testing

@testable import refresh_worker

/// The D-Bus call that shows a notification.
struct NotificationTests {
  @Test func wordsAreShownAsTheyAre() {
    #expect(Notification.escaped("a < b && c > d") == "a &lt; b &amp;&amp; c &gt; d")
    #expect(Notification.escaped("fünf Dateien\nsind da") == "fünf Dateien\nsind da")
    #expect(Notification.escaped("<\u{301}b>") == "&lt;\u{301}b&gt;")
  }

  @Test func itIsReadAsTheDaemonWritesIt() throws {
    let json = #"{"title":"Podcasts","body":"3 \"new\" episodes"}"#
    #expect(
      try Notification(jsonText: Array(json.utf8))
        == Notification(title: "Podcasts", body: #"3 "new" episodes"#))
  }

  @Test func theCallHasTheTypesOfTheSpecification() {
    let call = Notification(title: "t", body: "b").call
    #expect(call.name == "Notify")
    #expect(
      call.arguments == [
        .string("t"), .uint32(0), .string(""), .string("t"), .string("b"), .array(of: "s", []),
        .array(of: "{sv}", []), .int32(-1),
      ])
  }
}
