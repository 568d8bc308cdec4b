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
    let topics = BrokerTopics(text, machine: "m1")
    #expect(topics.filters == [filter])
    #expect(topics.app(of: topic) == app)
  }

  @Test(
    "another topic is for no app",
    arguments: ["refreshd/m1", "refreshd/m2/app", "refreshd/m1/app/more", "refreshd/m1/app/", "/refreshd/m1/app", ""])
  func otherTopics(_ topic: String) {
    #expect(BrokerTopics("refreshd/{machine}/{app}", machine: "m1").app(of: topic) == nil)
  }

  @Test func aTableHasATopicOfEachAppWithOrWithoutATemplate() {
    let table = ["a.b/{machine}": "org.example.todo", "mail": "org.example.mail"]
    let topics = BrokerTopics(nil, apps: table, machine: "m1")
    #expect(topics.filters == ["a.b/m1", "mail"])
    #expect(
      ["a.b/m1", "a/b/m1", "mail"].map(topics.app) == ["org.example.todo", "org.example.todo", "org.example.mail"])
    #expect(topics.app(of: "other") == nil)
    let both = BrokerTopics("t/{app}", apps: table, machine: "m1")
    #expect(both.filters == ["t/+", "a.b/m1", "mail"])
    #expect(both.app(of: "t/org.example.feed") == "org.example.feed")
  }

  private static let acknowledged = [
    BrokerMessage(topic: "a", payload: [], packet: 7, isRepeated: false, isRetained: false)
  ]

  @Test func aSessionIsReadBackWithItsEpochInTheSameBoot() {
    var session = BrokerSession(beganAt: 0x1234, boot: "b1")
    #expect(BrokerSession(session.text, boot: "b1") == session)
    session.filters = ["a topic/with blanks/+", "b"]
    session.acknowledge(Self.acknowledged)
    #expect(session.text == "1234 b1 1\na topic/with blanks/+\nb")
    #expect(BrokerSession(session.text, boot: "b1") == session)
    let later = BrokerSession(session.text, boot: "b2")
    #expect((later?.id, later?.epoch, later?.filters) == ("1234", "b2-0", session.filters))
    for text in ["", " ", "x1 b1 0", " b1 0", "1234", "1234 topic", "1234 b1 -1"] {
      #expect(BrokerSession(text, boot: "b1") == nil)
    }
  }

  @Test func topicsAreAskedForEachTimeAndThoseBeforeThemGivenUp() {
    var session = BrokerSession(beganAt: 1, boot: "b1")
    #expect(session.requests(toward: ["a/+"]) == [.subscribe(["a/+"])])
    session.filters = ["a/+", "b"]
    #expect(session.requests(toward: ["a/+", "b"]) == [.subscribe(["a/+", "b"])])
    #expect(session.requests(toward: ["b", "c"]) == [.unsubscribe(["a/+"]), .subscribe(["b", "c"])])
  }

  private static let message = BrokerMessage(
    topic: "a/b", payload: Array("{}".utf8), packet: 7, isRepeated: false, isRetained: false)

  private func id(
    _ change: (inout BrokerMessage) -> Void = { _ in }, session start: Int64 = 1, acknowledged: [BrokerMessage] = []
  )
    -> String?
  {
    var message = Self.message
    change(&message)
    var session = BrokerSession(beganAt: start, boot: "b1")
    session.acknowledge(acknowledged)
    return BrokerMessageID.id(of: message, source: "home", session: session)
  }

  @Test func anIdIsOfTheSessionItsEpochTheNumberTheTopicAndThePayload() {
    let first = id()
    #expect(first == id { $0.isRepeated = true })
    #expect(first?.hasPrefix("mqtt/home/1/b1-0/7/") == true && first?.utf8.count == 19 + 32)
    #expect(first != id(session: 2))
    #expect(first != id(acknowledged: Self.acknowledged))
    #expect(first != id { $0.packet = 8 })
    #expect(first != id { $0.topic = "a/c" })
    #expect(first != id { $0.payload = [] })
  }

  @Test func aRetainedMessageIsKnownInItsSessionByWhatItSaysAndOneWithoutANumberNotAtAll() {
    let retained = id { $0.isRetained = true }
    #expect(retained == id({ ($0.isRetained, $0.packet) = (true, 9) }, acknowledged: Self.acknowledged))
    #expect(retained != id({ $0.isRetained = true }, session: 2))
    #expect(retained != id { ($0.isRetained, $0.payload) = (true, []) })
    #expect(id { $0.packet = 0 } == nil)
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
    ] as [(RawConnection.Failure, String)])
  func ends(_ failure: RawConnection.Failure, _ sentence: String) {
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
    mailbox.post(.stored)
    mailbox.post(.stop)
    mailbox.post(.notStored)
    // A stored message is acknowledged first.
    #expect(mailbox.consume() == .stored)
    #expect(mailbox.consume() == .stop)
    #expect(mailbox.consume() == .stop)
  }
}
