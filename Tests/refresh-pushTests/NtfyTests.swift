import RefreshAPI
import Testing

@testable import refresh_push

/// How the JSON stream of an ntfy server is read.
struct NtfyTests {
  private func lines(_ pieces: [String], limit: Int = 16 << 10) -> (lines: [String], passedOver: Int) {
    var buffer = LineBuffer(limit: limit)
    let lines = pieces.flatMap { piece in Array(piece.utf8).withUnsafeBytes { buffer.append($0) } }
    return (lines.map { String(decoding: $0, as: UTF8.self) }, buffer.passedOver)
  }

  @Test func linesAreCutAnywhere() {
    #expect(lines(["a\nb", "b\r", "\n", "\nc"]).lines == ["a", "bb", ""])
  }

  @Test func aLineOverTheLimitIsPassedOver() {
    let read = lines(["12345\n123456\n", "1234", "56789", "0\n12345\r\n", "123456"], limit: 5)
    #expect(read.lines == ["12345", "12345"])
    #expect(read.passedOver == 2)
  }

  private func message(_ members: String) -> NtfyMessage? {
    let line = #"{"id":"hwQ2YpKdmg","time":1635528741,"event":"message","topic":"up1","# + members + "}"
    guard case .message(let message) = NtfyEvent(Array(line.utf8)) else { return nil }
    return message
  }

  @Test func aMessageHasIDTopicAndText() {
    let message = message(#""message":"{\"aps\":{}}","tags":["x"],"click":"https://h""#)
    #expect(
      message
        == NtfyMessage(
          id: "hwQ2YpKdmg", time: 1_635_528_741, topic: "up1", body: .text(#"{"aps":{}}"#), urgency: nil))
  }

  @Test(arguments: [(1, .veryLow), (2, .low), (3, nil), (4, .high), (5, .high)] as [(Int, Wire.Urgency?)])
  func priorityIsUrgency(priority: Int, urgency: Wire.Urgency?) {
    #expect(message(#""message":"x","priority":\#(priority)"#)?.urgency == urgency)
  }

  @Test(arguments: [
    (#""message":"eyJhIjoxfQ==","encoding":"base64""#, NtfyMessage.Body.text(#"{"a":1}"#)),
    (#""message":"//8=","encoding":"base64""#, .refused("it is not text")),
    (#""message":"?","encoding":"base64""#, .refused("it is not text")),
    (#""message":"x","encoding":"rot13""#, .refused("its encoding is unknown")),
    (#""priority":3"#, .refused("it is empty")),
    (
      #""message":"You received a file","attachment":{"name":"a.txt","url":"https://h/a.txt"}"#,
      .refused("it has an attachment; publish the payload as the message itself")
    ), (#""message":"x","attachment":null"#, .text("x")),
  ])
  func bodies(members: String, body: NtfyMessage.Body) {
    #expect(message(members)?.body == body)
  }

  @Test func otherEventsBringNothing() {
    func event(_ line: String) -> NtfyEvent? { NtfyEvent(Array(line.utf8)) }
    #expect(event(#"{"id":"a","time":17,"event":"open","topic":"up1,up2"}"#) == .open(time: 17))
    #expect(event(#"{"id":"a","time":17,"event":"keepalive","topic":"up1"}"#) == .keepAlive)
    #expect(event(#"{"event":"poll_request"}"#) == .other)
    #expect(event(#"{"event":"of a later version","time":"?"}"#) == nil)
    #expect(event("<html>") == nil)
    #expect(event(#"{"event":"message","topic":"up1"}"#) == nil)
  }

  @Test(arguments: [(2, 1), (16, 16), (16, 3), (100, 1)])
  func theTopicsThatMayBeReadAreFound(count: Int, forbidden: Int) {
    let topics = (0..<count).map(String.init)
    let refused = Set(topics.suffix(forbidden))
    var search = ReadableTopics(among: topics)
    var requests = 0
    while let list = search.next {
      search.answer(isReadable: refused.isDisjoint(with: list))
      requests += 1
    }
    #expect(Set(search.readable) == Set(topics).subtracting(refused))
    #expect(Set(search.unreadable) == refused)
    #expect(requests <= ReadableTopics.mostRequests)
  }

  @Test func aSearchAmongManyThatAreRefusedEndsAndCountsTheRestAsRefused() {
    var search = ReadableTopics(among: (0..<100).map(String.init))
    for _ in 0..<ReadableTopics.mostRequests { search.answer(isReadable: false) }
    #expect(search.next == nil && search.readable.isEmpty && search.unreadable.count == 100)
  }
}
