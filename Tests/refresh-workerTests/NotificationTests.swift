import JSON
import RefreshAPI
import Testing

@testable import refresh_worker

/// The D-Bus call that shows a notification.
struct NotificationTests {
  @Test func wordsAreShownAsTheyAre() {
    #expect("a < b && c > d".withoutMarkup == "a &lt; b &amp;&amp; c &gt; d")
    #expect("fünf Dateien\nsind da".withoutMarkup == "fünf Dateien\nsind da")
    #expect("<\u{301}b>".withoutMarkup == "&lt;\u{301}b&gt;")
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
