import Glibc
import HTTP
import RefreshConfig
import Testing

@testable import refresh_push

/// Topics, sessions and message ids of a broker.
struct BrokerTests {
  @Test(
    "the filter matches all apps, and the app is read back from a topic",
    arguments: [
      ("refreshd/{machine}/{app}", "refreshd/m1/+", "refreshd/m1/org.example.todo", "org.example.todo"),
      ("{app}", "+", "org.example.todo", "org.example.todo"),
      ("/{app}/push", "/+/push", "/org.example.todo/push", "org.example.todo"),
      ("home-{machine}/{app}/", "home-m1/+/", "home-m1/a/", "a"),
    ])
  func topics(_ text: String, _ filter: String, _ topic: String, _ app: String) {
    let topics = TopicTemplate(text, machine: "m1")
    #expect(topics.filter == filter)
    #expect(topics.app(of: topic) == app)
  }

  @Test(
    "another topic is for no app",
    arguments: ["refreshd/m1", "refreshd/m2/app", "refreshd/m1/app/more", "refreshd/m1/app/", "/refreshd/m1/app", ""])
  func otherTopics(_ topic: String) {
    #expect(TopicTemplate("refreshd/{machine}/{app}", machine: "m1").app(of: topic) == nil)
  }

  @Test func aSessionIsReadBackFromItsLine() {
    var session = BrokerSession(beganAt: 0x1234)
    #expect(BrokerSession(session.line) == session)
    session.filter = "a topic/with blanks/+"
    #expect(session.line == "1234 a topic/with blanks/+")
    #expect(BrokerSession(session.line) == session)
    for line in ["", " ", "x1 topic", " topic"] { #expect(BrokerSession(line) == nil) }
  }

  @Test func aTopicIsAskedForEachTimeAndTheOneBeforeItGivenUp() {
    var session = BrokerSession(beganAt: 1)
    #expect(session.steps(toward: "a/+") == [.subscribe("a/+")])
    session.filter = "a/+"
    #expect(session.steps(toward: "a/+") == [.subscribe("a/+")])
    #expect(session.steps(toward: "b/+") == [.unsubscribe("a/+"), .subscribe("b/+")])
  }

  private static let message = BrokerMessage(
    topic: "a/b", payload: Array("{}".utf8), packet: 7, isRepeated: false, isRetained: false)

  private func id(_ change: (inout BrokerMessage) -> Void = { _ in }, session: Int64 = 1) -> String? {
    var message = Self.message
    change(&message)
    return BrokerMessageID.id(of: message, source: "home", session: BrokerSession(beganAt: session))
  }

  @Test func anIdIsOfTheSessionTheNumberTheTopicAndThePayload() {
    let first = id()
    #expect(first == id { $0.isRepeated = true })
    #expect(first?.hasPrefix("mqtt/home/1/7/") == true && first?.utf8.count == 14 + 32)
    #expect(first != id(session: 2))
    #expect(first != id { $0.packet = 8 })
    #expect(first != id { $0.topic = "a/c" })
    #expect(first != id { $0.payload = [] })
  }

  @Test func aRetainedMessageIsKnownByWhatItSaysAndOneWithoutANumberNotAtAll() {
    let retained = id { $0.isRetained = true }
    #expect(retained == id({ ($0.isRetained, $0.packet) = (true, 9) }, session: 2))
    #expect(retained != id { ($0.isRetained, $0.payload) = (true, []) })
    #expect(id { $0.packet = 0 } == nil)
  }

  @Test func anIdThatIsUsedAgainIsAnotherAndThatOfWhatIsSentAgainIsNot() {
    var receptions = BrokerReceptions()
    let messages = [("a", true), ("a", false), ("a", true), ("b", false), ("a", false), ("a", true), ("b", true)]
    let ids = messages.map { receptions.id($0, isRepeated: $1) }
    #expect(ids == ["a", "a/1", "a/1", "b", "a/2", "a/2", "b"])
    for number in 1..<BrokerReceptions.fewestKnown { _ = receptions.id("\(number)", isRepeated: false) }
    #expect(receptions.id("a", isRepeated: true) == "a/2")
  }

  @Test func noMoreAttemptsAreMadeThanSystemAndBrokerCanBear() {
    let began = (0..<10).map { _ in BrokerAttempts.begin("one") }
    #expect(began.count { $0 } == BrokerAttempts.most)
    #expect(BrokerAttempts.begin("other"))
    BrokerAttempts.end("one")
    #expect(BrokerAttempts.begin("one"))
    for _ in 0..<BrokerAttempts.most { BrokerAttempts.end("one") }
    BrokerAttempts.end("other")
  }

  @Test(
    "a failed connection becomes a sentence with the place",
    arguments: [
      (.noAddress, "cannot find the address of host"),
      (.refused(ECONNREFUSED), "cannot connect to host:8883: Connection refused"),
      (.closed, "cannot stay connected to host:8883: it closed the connection"),
      (.silent, "cannot connect to host:8883: it does not answer; check port and tls"),
      (
        .tls("certificate has expired"),
        "cannot connect to host:8883 by TLS: certificate has expired; check port, tls and ca_file"
      ),
    ] as [(RawConnection.ConnectionFailure, String)])
  func ends(_ failure: RawConnection.ConnectionFailure, _ sentence: String) {
    #expect(BrokerEnd(failure, host: "host", port: 8883).problem == sentence)
  }

  @Test func aRefusalOfTheVersionIsToldInEitherVersion() {
    #expect(BrokerEnd.refused(code: 0x84, by: "host").isOfVersion)
    #expect(BrokerEnd.refused(code: 1, by: "host").isOfVersion)
    #expect(!BrokerEnd.refused(code: 0x87, by: "host").isOfVersion)
  }

  @Test func theLastWordInTheMailboxIsToStop() throws {
    let mailbox = try BrokerMailbox()
    #expect(mailbox.consume() == nil)
    mailbox.post(.stored)
    #expect(mailbox.consume() == .stored)
    #expect(mailbox.consume() == nil)
    mailbox.post(.stop)
    mailbox.post(.notStored)
    #expect(mailbox.consume() == .stop)
    #expect(mailbox.consume() == .stop)
  }
}
