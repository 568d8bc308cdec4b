import Dispatch
import RefreshAPI
import Testing

@testable import refresh_push

/// The bridge between its sources and the daemon.
@MainActor
struct BridgeTests {
  let source = ScriptedSource()
  let stage: Stage

  init() throws { stage = try Stage([source]) }

  private func messages(_ ids: ClosedRange<Int>) -> [Message] {
    ids.map { Message(app: "a.b", payload: "{}", id: "\($0)") }
  }

  /// Starts the daemon and connects the source.
  private func connect() throws {
    try stage.daemon.start()
    try stage.turn { source.connects == 1 }
    stage.bridge.connected(source)
  }

  @Test func nothingConnectsBeforeTheDaemonSaysThatItMay() throws {
    stage.settle()
    #expect(source.connects == 0)
    stage.daemon.permission = .init(mayConnect: false, network: "none")
    try stage.daemon.start()
    stage.settle()
    #expect(source.connects == 0)
    stage.daemon.permission = .init(mayConnect: true, network: "home")
    try stage.turn { source.connects == 1 }
    stage.settle()
    #expect(source.connects == 1)
  }

  @Test func whenTheNetworkMayNotBeUsedTheSourceIsDisconnected() throws {
    try connect()
    stage.daemon.permission = .init(mayConnect: false, network: "home")
    try stage.turn { source.disconnects == 1 }
    stage.settle()
    #expect(source.connects == 1)
    stage.daemon.permission = .init(mayConnect: true, network: "home")
    try stage.turn { source.connects == 2 }
  }

  @Test func whenTheNetworkIsBackNobodyWaits() throws {
    try connect()
    stage.bridge.lost(source, why: "the connection broke", next: .longest)
    stage.daemon.permission = .init(mayConnect: false, network: "home")
    stage.settle()
    #expect(source.connects == 1)
    stage.daemon.permission = .init(mayConnect: true, network: "home")
    try stage.turn { source.connects == 2 }
  }

  @Test func onAnotherNetworkItConnectsAgainAtOnce() throws {
    try connect()
    stage.daemon.permission = .init(mayConnect: true, network: "cafe")
    try stage.turn { source.disconnects == 1 && source.connects == 2 }
    // Also if it was to wait for minutes.
    stage.bridge.lost(source, why: "gone", next: .longest)
    stage.settle()
    #expect(source.connects == 2)
    stage.daemon.permission = .init(mayConnect: true, network: "home")
    try stage.turn { source.connects == 3 }
    #expect(source.disconnects == 1)
  }

  @Test func aNetworkThatBecomesKnownIsNoOther() throws {
    stage.daemon.permission = .init(mayConnect: true, network: "")
    try connect()
    stage.daemon.permission = .init(mayConnect: true, network: "home")
    stage.settle()
    #expect((source.connects, source.disconnects) == (1, 0))
    stage.daemon.permission = .init(mayConnect: true, network: "cafe")
    try stage.turn { source.connects == 2 }
  }

  @Test func aLostConnectionIsMadeAgain() throws {
    try connect()
    stage.bridge.lost(source, why: "the connection broke")
    try stage.turn { source.connects == 2 }
    #expect(source.disconnects == 0)
  }

  @Test func messagesAreStoredInOrderAndThenTold() throws {
    try connect()
    var fates: [MessageFate] = []
    stage.bridge.receive(messages(1...3), from: source) { fates += $0 }
    stage.bridge.receive(messages(4...5), from: source) { fates += $0 }
    #expect(fates.isEmpty)
    try stage.turn { fates.count == 5 }
    #expect(fates.allSatisfy { $0 == .stored })
    #expect(stage.daemon.stored.map(\.id) == ["1", "2", "3", "4", "5"])
  }

  @Test func messagesWaitForADaemonThatIsGone() throws {
    try connect()
    var fates: [MessageFate] = []
    stage.daemon.kill()
    stage.bridge.receive(messages(1...300), from: source) { fates += $0 }
    stage.settle()
    #expect(fates.isEmpty)
    #expect(source.disconnects == 0)
    try stage.daemon.start()
    try stage.turn { fates.count == 300 }
    #expect(stage.daemon.stored.map(\.id) == (1...300).map { "\($0)" })
    #expect(source.connects == 1)
  }

  @Test func aDaemonThatDiesBeforeItsAnswerIsGivenTheSameAgain() throws {
    try connect()
    var fates: [MessageFate] = []
    var hasDied = false
    stage.daemon.answer = { [daemon = stage.daemon] deliveries in
      if !hasDied {
        hasDied = true
        daemon.kill()
      }
      return deliveries.map { _ in Wire.DeliveryResult(fate: .known) }
    }
    stage.bridge.receive(messages(1...2), from: source) { fates += $0 }
    try stage.turn { hasDied }
    stage.settle()
    #expect(fates.isEmpty)
    try stage.daemon.start()
    try stage.turn { fates == [.known, .known] }
  }

  @Test func aDiskThatIsFullIsTriedAgainLaterAndNotAtOnce() throws {
    try connect()
    var fates: [MessageFate] = []
    stage.daemon.answer = { _ in nil }
    stage.bridge.receive(messages(1...2), from: source) { fates += $0 }
    try stage.turn { stage.daemon.calls == 3 }
    #expect(fates.isEmpty)
    #expect(stage.bridge.statusLine(refusedConfiguration: []).contains("the disk is full"))
    stage.settle()
    #expect(stage.daemon.calls < 20)
    stage.daemon.answer = { $0.map { _ in Wire.DeliveryResult(fate: .queued) } }
    try stage.turn { fates == [.stored, .stored] }
    #expect(!stage.bridge.statusLine(refusedConfiguration: []).contains("full"))
  }

  @Test func whatIsRefusedIsCountedAndTold() throws {
    try connect()
    var fates: [MessageFate] = []
    stage.daemon.answer = { $0.map { _ in Wire.DeliveryResult(refusal: "cannot push: there is no such app") } }
    stage.bridge.receive(messages(1...2), from: source) { fates += $0 }
    stage.bridge.refuses("it has an attachment", from: source)
    try stage.turn { fates.count == 2 }
    #expect(fates[0] == .refused("cannot push: there is no such app"))
    try stage.turn { stage.daemon.reports.last?.first.map { ($0.received, $0.refused) == (3, 3) } == true }
  }

  @Test func theDaemonIsToldHowSourcesAreAndAgainAfterItsRestart() throws {
    try connect()
    try stage.turn { stage.daemon.reports.last?.first?.isConnected == true }
    stage.bridge.lost(source, why: "the connection broke", next: .longest)
    try stage.turn { stage.daemon.reports.last?.first?.isConnected == false }
    let lost = try #require(stage.daemon.reports.last?.first)
    #expect((lost.name, lost.kind, lost.problem) == ("home", .ntfy, "the connection broke"))
    #expect(try #require(lost.retryMicroseconds) > lost.sinceMicroseconds)
    stage.daemon.kill()
    stage.settle()
    let count = stage.daemon.reports.count
    try stage.daemon.start()
    try stage.turn { stage.daemon.reports.count > count }
  }

  @Test func whatADisconnectedSourceHasHandedOverIsForLater() throws {
    try connect()
    stage.daemon.kill()
    stage.settle()
    var fates: [MessageFate] = []
    stage.bridge.receive(messages(1...2), from: source) { fates += $0 }
    stage.daemon.permission = .init(mayConnect: false, network: "home")
    stage.daemon.answer = { _ in nil }
    try stage.daemon.start()
    try stage.turn { source.disconnects == 1 }
    stage.settle()
    #expect(fates == [.undelivered, .undelivered])
  }

  @Test func whatNoServerBringsAgainIsKeptWhenItsSourceIsDisconnected() throws {
    try connect()
    stage.daemon.kill()
    stage.settle()
    var fates: [MessageFate] = []
    stage.bridge.receive([Message(app: "a.b", payload: "{}")], from: source) { fates += $0 }
    stage.bridge.replace(by: [])
    try stage.daemon.start()
    try stage.turn { fates == [.stored] }
    // And then nobody is left who needs the daemon.
    try stage.turn { stage.bridge.statusLine(refusedConfiguration: []) == "No source is configured." }
  }

  @Test func aMessageThatIsTooLargeForTheDaemonStopsNoOther() throws {
    try connect()
    var fates: [MessageFate] = []
    var messages = messages(1...3)
    messages[1].payload = String(repeating: "x", count: 17 << 10)
    stage.bridge.receive(messages, from: source) { fates += $0 }
    try stage.turn { fates.count == 3 }
    #expect(fates == [.stored, .refused(Message.tooLarge), .stored])
    #expect(stage.daemon.stored.map(\.id) == ["1", "3"])
    try stage.turn { stage.daemon.reports.last?.first.map { ($0.received, $0.refused) == (3, 1) } == true }
  }

  @Test func aDaemonThatDoesNotKnowTheNetworkYetHasNoOther() throws {
    try connect()
    stage.settle()
    for network in ["", "home", ""] {
      stage.daemon.permission = .init(mayConnect: true, network: network)
      stage.settle()
    }
    #expect(source.disconnects == 0)
    stage.daemon.permission = .init(mayConnect: true, network: "cafe")
    try stage.turn { source.disconnects == 1 }
  }

  @Test func withoutASourceAndADaemonItRests() throws {
    stage.settle()
    stage.bridge.replace(by: [])
    // Later than the daemon would have been asked again.
    let end = ContinuousClock.now + .milliseconds(1200)
    var turns = 0
    while .now < end {
      turns += 1
      _ = stage.bridge.turn(watching: [], until: end)
    }
    #expect(turns < 10)
  }

  @Test func otherThreadsHaveThingsDoneOnTheMainOne() throws {
    let bridge = stage.bridge
    let done = Done()
    for number in 0..<10 {
      DispatchQueue.global().async { bridge.onMain { done.numbers.insert(number) } }
    }
    try stage.turn { done.numbers.count == 10 }
  }

  @Test func countsStayWhenSourcesAreReadAgain() throws {
    try connect()
    stage.bridge.refuses("it is empty", from: source)
    let next = ScriptedSource()
    stage.bridge.replace(by: [next, ScriptedSource("other")])
    #expect(source.disconnects == 1)
    try stage.turn { stage.daemon.reports.last?.count == 2 && next.connects == 1 }
    #expect(stage.daemon.reports.last?.map(\.refused) == [1, 0])
  }

  @Test func whatIsOnItsWayWhenSourcesAreReadAgainIsAnsweredToTheOldOne() throws {
    try connect()
    var fates: [MessageFate] = []
    var hasCome = false
    stage.daemon.answer = { deliveries in
      hasCome = true
      return deliveries.map { _ in Wire.DeliveryResult(refusal: "cannot push: there is no such app") }
    }
    do {
      let old = ScriptedSource("old")
      stage.bridge.replace(by: [old])
      try stage.turn { old.connects == 1 }
      stage.bridge.receive(messages(1...1), from: old) { fates += $0 }
      // The call is on its way, and its answer is not read.
      _ = stage.bridge.turn(watching: [], until: .now)
      stage.daemon.turn()
      try #require(hasCome)
      stage.bridge.replace(by: [source])
    }
    try stage.turn { fates.count == 1 }
    #expect(fates == [.refused("cannot push: there is no such app")])
  }

  @Test func withoutASourceTheDaemonIsLeftAlone() throws {
    stage.bridge.replace(by: [])
    try stage.daemon.start()
    stage.settle()
    #expect(stage.daemon.reports.isEmpty)
    #expect(stage.bridge.statusLine(refusedConfiguration: []) == "No source is configured.")
  }
}

@MainActor
private final class Done {
  var numbers: Set<Int> = []
}
