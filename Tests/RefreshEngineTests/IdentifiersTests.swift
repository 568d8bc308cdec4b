import RefreshEngine
import Testing

/// The forms of names and of time.
@Suite struct IdentifiersTests {
  @Test(arguments: ["org.example.todo", "a.b", "_a.b-c", "org.example.a1", "a." + String(repeating: "b", count: 253)])
  func `An app id in reverse-DNS form is taken`(text: String) { #expect(AppID(text)?.description == text) }

  @Test(arguments: [
    "", "todo", ".", "a.", ".a", "a..b", "1a.b", "a.1b", "a b.c", "org.exämple.todo", "a/b.c",
    "a." + String(repeating: "b", count: 254),
  ])
  func `Any other text is none`(text: String) { #expect(AppID(text) == nil) }

  @Test func `A refresh id reads what it writes, and nothing else`() {
    #expect(RefreshID("12-345") == RefreshID(start: 12, number: 345))
    #expect(RefreshID(start: 12, number: 345).description == "12-345")
    for text in ["", "12", "-", "12-", "12-+3", "012-3", "12-3-4", "12-4294967296", " 12-3"] {
      #expect(RefreshID(text) == nil, "\(text)")
    }
  }

  @Test func `An instant keeps whole microseconds`() {
    let instant = Instant(microseconds: 5)
    #expect(instant + .nanoseconds(1999) == Instant(microseconds: 6))
    #expect(instant - .microseconds(7) == Instant(microseconds: -2))
    #expect(instant.duration(to: Instant(microseconds: 2)) == .microseconds(-3))
  }
}
