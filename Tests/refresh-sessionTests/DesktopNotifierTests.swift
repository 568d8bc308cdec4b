import RefreshAPI
import Testing

@testable import refresh_session

/// The text of notices on the desktop, which reads markup.
@Suite struct DesktopNotifierTests {
  @Test(arguments: [
    ("a < b && c > d", "a &lt; b &amp;&amp; c &gt; d"), ("fünf\nsind da", "fünf\nsind da"),
    ("<\u{301}b>", "&lt;\u{301}b&gt;"),
    (String(decoding: [97, 0xEF, 0xBF, 0xBF, 98] as [UInt8], as: UTF8.self), "a b"),
  ])
  func `The desktop reads no markup in a notice, whatever follows the character`(text: String, escaped: String) {
    #expect(DesktopNotifier.carried(text).withoutMarkup == escaped)
  }
}
