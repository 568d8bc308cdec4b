import Testing

@testable import refresh_push

/// How a stream of server-sent events is read: the examples and rules of the HTML standard, section 9.2.
struct EventStreamTests {
  typealias Event = EventStreamParser.Event

  private func events(_ text: String, lastID: String = "") -> [Event] {
    var parser = EventStreamParser(lastID: lastID)
    return parser.append(text.utf8)
  }

  private func event(_ data: String, type: String = "message", id: String? = nil, last: String = "") -> Event {
    Event(type: type, data: data, id: id, lastID: last)
  }

  @Test func dataOfSeveralLinesIsOneText() {
    #expect(events("data: YHOO\ndata: +2\ndata: 10\n\n") == [event("YHOO\n+2\n10")])
  }

  @Test func idsStayUntilAnotherComes() {
    let text = """
      : test stream

      data: first event
      id: 1

      data:second event
      id

      data:  third event


      """
    #expect(
      events(text) == [
        event("first event", id: "1", last: "1"), event("second event", id: "", last: ""), event(" third event"),
      ])
    #expect(events("data: a\n\n", lastID: "7") == [event("a", last: "7")])
  }

  @Test func whatIsNotEndedByAnEmptyLineIsNoEvent() {
    #expect(events("data\n\ndata\ndata\n\ndata:") == [event(""), event("\n")])
  }

  @Test func typesAreNamed() {
    #expect(
      events("event: add\ndata: 73\n\nevent: remove\ndata: 2\n\ndata: x\n\n") == [
        event("73", type: "add"), event("2", type: "remove"), event("x"),
      ])
  }

  @Test(arguments: ["\n", "\r", "\r\n"])
  func linesEndInThreeWaysAndPiecesBeginAnywhere(end: String) {
    let text = ["\u{FEFF}: hi", "id: 1", "data: {\"a\": \"ü\"}", "", "data:b", "retry: 3000", "", ""]
      .joined(separator: end)
    let bytes = Array(text.utf8)
    let whole = [event("{\"a\": \"ü\"}", id: "1", last: "1"), event("b", last: "1")]
    for first in bytes.indices {
      for second in bytes.indices[first...] {
        var parser = EventStreamParser()
        let pieces = [bytes[..<first], bytes[first..<second], bytes[second...]]
        #expect(pieces.flatMap { parser.append($0) } == whole, "cut at \(first) and \(second)")
        #expect(parser.retry == .seconds(3))
      }
    }
  }

  @Test func aMarkIsOneAtTheVeryBeginningOnly() {
    #expect(events("\u{FEFF}data: a\n\n\u{FEFF}data: b\n\ndata: c\n\n").map(\.data) == ["a", "c"])
    // Half a mark is none.
    var parser = EventStreamParser()
    #expect(parser.append([0xef, 0xbb] + Array("\ndata: a\n\n".utf8)) == [event("a")])
  }

  @Test(arguments: [
    ("3000", Duration.seconds(3)), ("0", .zero), ("3s", nil), ("-1", nil), ("", nil), ("99999999999999999999", nil),
    ("999999999", .seconds(3600)),
  ])
  func retryIsDigits(value: String, retry: Duration?) {
    var parser = EventStreamParser()
    #expect(parser.append("retry: \(value)\n".utf8) == [])
    #expect(parser.retry == retry)
  }

  @Test func anIDWithANulIsNone() {
    #expect(events("id: a\u{0}b\ndata: x\n\n") == [event("x")])
  }

  @Test func fieldsThatAreNotKnownArePassedOver() {
    #expect(events("datax: 1\n: data: 2\nDATA: 3\ndata : 4\ndata: 5\n\n") == [event("5")])
  }

  @Test func whatIsTooLongIsPassedOverAndTheNextIsRead() {
    for text in [
      "id: 1\ndata: \(String(repeating: "x", count: 20_000))\n\n",
      "id: 1\n" + String(repeating: "data: \(String(repeating: "x", count: 999))\n", count: 20) + "\n",
      "id: 1\n: \(String(repeating: "x", count: 20_000))\ndata: y\n\n",
    ] {
      var parser = EventStreamParser()
      let events = parser.append(text.utf8)
      #expect(events == [event("", type: "", id: "1", last: "1")])
      #expect(parser.passedOver == 1)
      #expect(parser.append("data: z\n\n".utf8) == [event("z", last: "1")])
    }
  }

  @Test(arguments: 0..<200 as Range<UInt64>)
  func anyBytesAreReadWithinBounds(seed: UInt64) {
    var chance = Seeded(state: seed)
    var parser = EventStreamParser()
    let pieces = ["data", "id", "retry", "event", ":", " ", "\n", "\r", "\r\n", "\u{FEFF}", "\u{0}", "x", "ü"]
    for _ in 0..<200 {
      let text = (0..<20).map { _ in pieces.randomElement(using: &chance) ?? "" }.joined()
      for event in parser.append(text.utf8) { #expect(event.data.utf8.count <= EventStreamParser.limit) }
    }
  }
}
