import RefreshAPI
import Testing

@testable import refresh_push

/// How the bridge gets on with a daemon that is silent, cannot store or does not stay, in virtual time.
@MainActor
struct DaemonLinkTests {
  private let scratch: Scratch
  private let daemon: ScriptedDaemon
  private let link: DaemonLink
  private let start = ContinuousClock.now

  init() throws {
    scratch = try Scratch()
    let socket = "\(scratch.path)/socket"
    daemon = ScriptedDaemon(at: socket)
    link = DaemonLink(SocketPath(path: socket, daemon: .named))
    try daemon.start()
  }

  /// Makes the daemon answer its call, and the bridge read the answer.
  private func hear(after time: Duration) {
    link.receive(at: start + time, isWanted: true)
    daemon.turn()
    link.receive(at: start + time, isWanted: true)
  }

  private func deliver(after time: Duration) {
    link.add([Message(app: "a.b", payload: "{}", id: "1")], from: ObjectIdentifier(daemon)) { _ in }
    link.send(at: start + time)
  }

  @Test func aDaemonThatAnswersNothingIsAProblem() {
    link.receive(at: start, isWanted: true)
    #expect(link.alarm == start + .seconds(10))
    link.receive(at: start + .seconds(9), isWanted: true)
    #expect(link.problem == nil)
    link.receive(at: start + .seconds(10), isWanted: true)
    #expect(link.problem?.contains("does not answer") == true)
    #expect(link.alarm == nil)
    hear(after: .seconds(11))
    #expect(link.isConnected && link.problem == nil && link.alarm == nil)
  }

  @Test func aDaemonThatStoresNothingAndSaysNothingIsAProblem() {
    hear(after: .zero)
    deliver(after: .seconds(5))
    #expect(link.alarm == start + .seconds(15))
    link.receive(at: start + .seconds(15), isWanted: true)
    #expect(link.problem?.contains("does not answer") == true)
    hear(after: .seconds(16))
    #expect(link.problem == nil)
    #expect(daemon.stored.count == 1)
  }

  @Test func aDaemonThatCannotStoreIsHeardMeanwhile() {
    hear(after: .zero)
    daemon.answer = { _ in nil }
    deliver(after: .zero)
    hear(after: .zero)
    #expect(link.problem?.contains("the disk is full") == true)
    daemon.permission = .init(mayConnect: false, network: "cafe")
    hear(after: .zero)
    #expect(link.permission == DaemonLink.Permission(mayConnect: false, network: "cafe"))
    #expect(link.problem?.contains("the disk is full") == true)
    // And that it has gone.
    daemon.kill()
    link.receive(at: start, isWanted: true)
    #expect(!link.isConnected)
  }

  @Test func aDaemonThatAnswersAndDoesNotStayIsAskedEverLess() throws {
    var now = Duration.zero
    var waits: [Duration] = []
    for _ in 0..<10 {
      hear(after: now)
      #expect(link.isConnected)
      daemon.kill()
      link.receive(at: start + now, isWanted: true)
      let retry = try #require(link.retry)
      waits.append((start + now).duration(to: retry))
      now = start.duration(to: retry)
      try daemon.start()
    }
    // Any part of 1, 2, 4 and then 5 s: that all are short has not happened once in a hundred thousand times.
    #expect(waits.contains { $0 > .seconds(1) })
  }
}
