import Glibc
import RefreshAPI
import Testing

@testable import RefreshKit

/// A client connects to the real daemon, loses it and finds it again.
@Suite(.serialized, .timeLimit(.minutes(1)))
struct ConnectTests {
  @Test func aConnectedAppIsLaunched() async throws {
    let daemon = try Daemon(task: "true")
    let client = try await RefreshClient.connect(app: Daemon.app, socket: daemon.socket)
    #expect(try await client.firstEvent() == .attached(.background))
    #expect(try daemon.shown().phase == .background)
  }

  @Test func withoutADaemonTheErrorSaysHowToStartIt() async throws {
    let error = await #expect(throws: RefreshError.self) {
      try await RefreshClient.connect(app: Daemon.app, socket: "/nonexistent/socket")
    }
    #expect(error?.code == .noDaemon)
    #expect(error?.description.contains("refreshd --config DIR --socket /nonexistent/socket") == true)
  }

  @Test func aClientThatKeepsTryingConnectsWhenTheDaemonAppears() async throws {
    let daemon = try Daemon()
    daemon.end()
    let client = try await RefreshClient.connect(app: Daemon.app, socket: daemon.socket, keepsTrying: true)
    var events = client.events.makeAsyncIterator()
    guard case .disconnected(let error, _) = await events.next() else {
      Issue.record("the missing daemon is not reported")
      return
    }
    #expect(error.code == .noDaemon)
    await client.onRefresh { _ in .noData }
    try daemon.start()
    while case .disconnected = await events.next() {}
    try daemon.refresh()
    #expect(await events.next() == .started(id: "2-1", .manual))
  }

  @Test func anUnknownAppHasItsOwnErrorCode() async throws {
    let daemon = try Daemon(task: "true")
    let error = await #expect(throws: RefreshError.self) {
      try await RefreshClient.connect(app: "org.example.nobody", socket: daemon.socket)
    }
    #expect(error?.code == .noSuchApp)
    #expect(error?.description.contains("apps.d/org.example.nobody.toml") == true)
  }

  @Test func aHungDaemonTimesOut() async throws {
    let daemon = try Daemon(task: "true")
    daemon.suspend()
    let error = await #expect(throws: RefreshError.self) {
      try await RefreshClient.connect(app: Daemon.app, socket: daemon.socket)
    }
    #expect(error == .late)
  }

  @Test func aReturningDaemonGetsTheLeasesAgain() async throws {
    let daemon = try Daemon(task: "true")
    let client = try await RefreshClient.connect(app: Daemon.app, socket: daemon.socket)
    var events = client.events.makeAsyncIterator()
    #expect(await events.next() == .attached(.background))
    let lease = await client.foreground()
    #expect(await events.next() == .phaseChanged(.foreground))
    daemon.end(with: SIGKILL)
    guard case .disconnected(let error, _) = await events.next() else {
      Issue.record("the end of the daemon is not reported")
      return
    }
    #expect(error.code == .disconnected)
    try daemon.start()
    while case .disconnected = await events.next() {}
    try await daemon.wait(for: .foreground)
    lease.end()
    try await daemon.wait(for: .background)
  }

  @Test func theForegroundEndsWithTheScope() async throws {
    let daemon = try Daemon(task: "true")
    let client = try await RefreshClient.connect(app: Daemon.app, socket: daemon.socket)
    let seen = try await client.withForeground {
      try await daemon.wait(for: .foreground)
      return try await client.withForeground { try daemon.shown().phase }
    }
    #expect(seen == .foreground)
    try await daemon.wait(for: .background)
  }

  @Test func theForegroundEndsWithTheClient() async throws {
    let daemon = try Daemon(task: "true")
    let client = try await RefreshClient.connect(app: Daemon.app, socket: daemon.socket)
    let lease = await client.foreground()
    try await daemon.wait(for: .foreground)
    await client.close()
    try await daemon.wait(for: .background)
    lease.end()
  }

  @Test(arguments: [
    (RefreshInterval.seconds(3600), "1h"), (.minutes(90), "1h 30min"), (.hours(2), "2h"), (.auto, "auto"),
    (.never, "never"),
  ])
  func theIntervalIsSet(interval: RefreshInterval, text: String) async throws {
    let daemon = try Daemon(task: "true")
    let client = try await RefreshClient.connect(app: Daemon.app, socket: daemon.socket)
    try await client.setBackgroundInterval(interval)
    #expect(try daemon.ask(ManagerInterface.Set.self, .init(apps: [Daemon.app])).apps.first?.background.inForce == text)
  }

  @Test func aSyncOfTheAppsOwnIsInTheHistory() async throws {
    let daemon = try Daemon(task: "true")
    let client = try await RefreshClient.connect(app: Daemon.app, socket: daemon.socket)
    try await client.reportSync(newData: true)
    let last = try #require(try daemon.ask(ManagerInterface.Show.self, .init(app: Daemon.app)).app.last)
    #expect((last.trigger, last.outcome) == (.reported, .newData))
    await client.close()
    let error = await #expect(throws: RefreshError.self) { try await client.reportSync(newData: false) }
    #expect(error?.code == .closed)
  }

  @Test func aBadIntervalSaysWhy() async throws {
    let daemon = try Daemon(task: "true")
    let client = try await RefreshClient.connect(app: Daemon.app, socket: daemon.socket)
    let error = await #expect(throws: RefreshError.self) {
      try await client.setBackgroundInterval(.seconds(-1))
    }
    #expect(error?.code == .badInterval)
  }

  @Test func aClosedClientStaysClosed() async throws {
    let daemon = try Daemon(task: "true")
    let client = try await RefreshClient.connect(app: Daemon.app, socket: daemon.socket)
    let events = client.events
    await client.close()
    await client.close()
    #expect(await events.reduce(0) { count, _ in count + 1 } == 1)
    #expect(try await client.firstEvent() == nil)
    let error = await #expect(throws: RefreshError.self) { try await client.setBackgroundInterval(.never) }
    #expect(error?.code == .closed)
  }

  @Test func aReleasedClientDisconnects() async throws {
    let daemon = try Daemon(task: "true")
    do {
      let client = try await RefreshClient.connect(app: Daemon.app, socket: daemon.socket)
      let lease = await client.foreground()
      try await daemon.wait(for: .foreground)
      withExtendedLifetime(lease) {}
    }
    try await daemon.wait(for: .background)
  }
}

extension RefreshClient {
  /// The first event of a new reader.
  nonisolated func firstEvent() async throws -> RefreshEvent? {
    var events = events.makeAsyncIterator()
    return await events.next()
  }
}
