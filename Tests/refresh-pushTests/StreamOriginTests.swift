import Testing

@testable import refresh_push

/// A stored position counts for the server that it came from.
struct StreamOriginTests {
  private let home = StreamOrigin("sse", url: "https://example.org/events")

  @Test func aPositionIsReadBackForTheSameServerOnly() {
    let line = home.line("17 and more")
    #expect(home.position(in: line) == "17 and more")
    #expect(StreamOrigin("sse", url: "https://example.net/events").position(in: line) == nil)
    #expect(StreamOrigin("ntfy", url: "https://example.org/events").position(in: line) == nil)
    #expect(BrokerSession(line, boot: "b1") == nil)
  }

  @Test func aPositionOfAnEarlierVersionCounts() {
    #expect(home.position(in: "17") == "17")
    #expect(home.position(in: nil) == nil)
  }

  @Test func aSessionWithABrokerIsNoPosition() {
    #expect(home.position(in: "18f3 b1 7\nrefreshd/laptop/+") == nil)
  }
}
