import Glibc
import RefreshAPI
import Testing

@testable import RefreshKit

/// Refreshes that the real daemon hands to a handler.
@Suite(.serialized, .timeLimit(.minutes(1)))
struct RefreshTests {
  @Test func aRefreshRunsAndItsResultIsReported() async throws {
    let daemon = try Daemon()
    let stage = try await Stage(daemon)
    await stage.client.onRefresh { context in
      #expect(context.trigger == .push)
      #expect(context.timeRemaining > .seconds(25))
      #expect(context.timeRemaining <= .seconds(30))
      return .newData("3 mails from \(context.id)")
    }
    try daemon.refresh(.push)
    #expect(
      await stage.events(through: "ended") == ["started 1-1 push", "ended 1-1 newData 3 mails from 1-1"])
    #expect(try daemon.last()?.tasks.map(\.name) == ["app"])
  }

  /// A client without a handler shows what the pull has brought while the push still runs.
  @Test func theEndOfOneTaskIsToldBeforeTheRefreshEnds() async throws {
    let gate = try Gate()
    let daemon = try Daemon(
      keys: """
        [[task]]
        name = "pull"
        shell = "echo three mails"
        [[task]]
        name = "push"
        shell = "read _ < \(gate.path)"
        """)
    let stage = try await Stage(daemon)
    try daemon.refresh()
    #expect(
      await stage.events(through: "task") == ["started 1-1 manual", "task 1-1 pull newData three mails"])
    try gate.open()
    #expect(
      await stage.events(through: "ended") == ["task 1-1 push newData ", "ended 1-1 newData three mails"])
  }

  /// A pipe at which a task waits.
  private final class Gate {
    let path: String
    /// Both ends, so that the line stays there until the task reads it.
    private let descriptor: Int32

    init() throws {
      path = "\(P_tmpdir)/refreshkit-gate-\(getpid())"
      try #require(mkfifo(path, 0o600) == 0)
      descriptor = Glibc.open(path, O_RDWR | O_CLOEXEC)
      try #require(descriptor >= 0)
    }

    deinit {
      close(descriptor)
      unlink(path)
    }

    func open() throws { try #require(write(descriptor, "\n", 1) == 1) }
  }

  @Test func noDataIsAResult() async throws {
    let daemon = try Daemon()
    let stage = try await Stage(daemon)
    await stage.client.onRefresh { _ in .noData }
    try daemon.refresh()
    #expect(await stage.events(through: "ended").last == "ended 1-1 noData ")
  }

  @Test func theErrorOfTheHandlerIsTheCause() async throws {
    let daemon = try Daemon()
    let stage = try await Stage(daemon)
    await stage.client.onRefresh { _ in throw NoRoute() }
    try daemon.refresh()
    #expect(await stage.events(through: "ended").last == "ended 1-1 failed no route to the server")
  }

  @Test func aRetryComesWhenTheHandlerAsks() async throws {
    let daemon = try Daemon()
    let stage = try await Stage(daemon)
    await stage.client.onRefresh { _ in throw RetryLater(after: .seconds(600), "the server is busy") }
    try daemon.refresh()
    #expect(await stage.events(through: "ended").last == "ended 1-1 failed the server is busy")
    let app = try daemon.shown()
    let refresh = try #require(try daemon.last())
    #expect(app.dueTrigger == .retry)
    #expect(
      app.dueMicroseconds
        == refresh.startedMicroseconds + refresh.durationMicroseconds + 600_000_000)
  }

  @Test func theTaskIsCancelledAtTheDeadline() async throws {
    let daemon = try Daemon(keys: "deadline = \"1s\"")
    let stage = try await Stage(daemon)
    await stage.client.onRefresh { _ in
      try await untilCancelled()
      return .newData
    }
    try daemon.refresh()
    #expect(await stage.events(through: "ended").last == "ended 1-1 failed still running at its deadline")
    let refresh = try #require(try daemon.last())
    #expect(refresh.cause?.stopReason == .deadline)
    // The handler returned in time, so the grace period was not used.
    #expect(refresh.durationMicroseconds < 4_000_000)
  }

  @Test func theHandlerIsWarnedFiveSecondsBeforeTheDeadline() async throws {
    let daemon = try Daemon(keys: "deadline = \"6s\"")
    let stage = try await Stage(daemon)
    await stage.client.onRefresh { context in
      let (warned, warn) = AsyncStream.makeStream(of: Void.self)
      context.onExpiration { warn.finish() }
      for await _ in warned {}
      try Task.checkCancellation()
      // A late action runs at once.
      context.onExpiration { #expect(context.timeRemaining > .seconds(3)) }
      return .newData("half of it")
    }
    try daemon.refresh()
    #expect(await stage.events(through: "ended").last == "ended 1-1 newData half of it")
  }

  /// The command performs the refreshes until the late handler returns.
  @Test func aLateHandlerReceivesRefreshesAgainAfterItReturns() async throws {
    let daemon = try Daemon(keys: "deadline = \"1s\"\ngrace = \"100ms\"", task: "exit 100")
    let stage = try await Stage(daemon)
    let (held, hold) = AsyncStream.makeStream(of: Void.self)
    let deaf = Task.detached { for await _ in held {} }
    await stage.client.onRefresh { context in
      // The cancellation of this task does not cancel an unstructured task.
      if context.id == "1-1" { await deaf.value }
      return .newData
    }
    try daemon.refresh()
    #expect(await stage.events(through: "ended").last == "ended 1-1 failed still running at its deadline")
    try daemon.refresh()
    #expect(
      await stage.events(through: "ended") == ["started 1-2 manual", "task 1-2 shell noData ", "ended 1-2 noData "])
    hold.finish()
    // The daemon decides when this process performs refreshes again.
    var last: String?
    repeat {
      try daemon.refresh()
      last = await stage.events(through: "ended").last
    } while last?.contains("noData") == true
    #expect(last?.contains("newData") == true)
  }

  @Test func theHandlerIsCancelledWithTheDaemonAndServesTheNextOne() async throws {
    let daemon = try Daemon()
    let stage = try await Stage(daemon)
    let (begun, begin) = AsyncStream.makeStream(of: String.self)
    await stage.client.onRefresh { context in
      begin.yield(context.id)
      if context.id == "1-1" { try await untilCancelled() }
      return .newData("from \(context.id)")
    }
    try daemon.refresh()
    var handled = begun.makeAsyncIterator()
    #expect(await handled.next() == "1-1")
    daemon.end(with: SIGKILL)
    #expect(await stage.events(through: "disconnected") == ["started 1-1 manual", "disconnected disconnected"])
    try daemon.start()
    #expect(await stage.events(through: "attached").last == "attached background")
    try daemon.refresh()
    let ended = await stage.events(through: "ended").last
    #expect(ended?.hasPrefix("ended 2-") == true)
    #expect(ended?.contains("newData from 2-") == true)
  }

  @Test func aProcessThatEndsDuringARefreshFailsIt() async throws {
    let daemon = try Daemon()
    let stage = try await Stage(daemon)
    let (begun, begin) = AsyncStream.makeStream(of: Void.self)
    await stage.client.onRefresh { _ in
      begin.finish()
      try await untilCancelled()
      return .newData
    }
    let other = try await Stage(daemon)
    await other.client.onRefresh { _ in .noData }
    try daemon.refresh()
    for await _ in begun {}
    await stage.client.close()
    #expect(await other.events(through: "ended").last?.hasPrefix("ended 1-1 failed") == true)
    #expect(try daemon.last()?.cause?.kind == .lostClient)
    // The next process performs the refreshes.
    try daemon.refresh()
    #expect(await other.events(through: "ended").last == "ended 1-2 noData ")
  }

  @Test func anAppWithoutACommandIsRefreshedWhenItConnects() async throws {
    let daemon = try Daemon()
    try daemon.refresh()
    #expect(try daemon.shown().holds.map(\.name) == ["app"])
    let stage = try await Stage(daemon)
    await stage.client.onRefresh { _ in .newData }
    #expect(await stage.events(through: "ended").last == "ended 1-1 newData ")
  }

  /// The window of an app whose refresh is a command shows the result of the command.
  @Test func aClientWithoutAHandlerReceivesEventsToo() async throws {
    let daemon = try Daemon(task: "exit 100")
    let stage = try await Stage(daemon)
    let lease = await stage.client.foreground()
    #expect(await stage.events(through: "phase") == ["phase foreground"])
    try daemon.refresh()
    #expect(
      await stage.events(through: "ended") == ["started 1-1 manual", "task 1-1 shell noData ", "ended 1-1 noData "])
    lease.end()
  }

  @Test func theLastHandlerIsUsed() async throws {
    let daemon = try Daemon()
    let stage = try await Stage(daemon)
    await stage.client.onRefresh { _ in .newData("first") }
    await stage.client.onRefresh { _ in .newData("second") }
    try daemon.refresh()
    #expect(await stage.events(through: "ended").last == "ended 1-1 newData second")
  }

  @Test func thePhaseIsReported() async throws {
    let daemon = try Daemon()
    let stage = try await Stage(daemon)
    await stage.client.onRefresh { _ in .newData }
    await stage.client.withForeground {
      #expect(await stage.events(through: "phase") == ["phase foreground"])
    }
    #expect(await stage.events(through: "phase") == ["phase background"])
  }

  private struct NoRoute: Error, CustomStringConvertible {
    var description: String { "no route to the server" }
  }
}

/// Returns only by the error of a cancelled task.
private func untilCancelled() async throws {
  let (never, end) = AsyncStream.makeStream(of: Void.self)
  for await _ in never {}
  end.finish()
  try Task.checkCancellation()
}
