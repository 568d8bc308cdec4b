import Dispatch
import Glibc
import Testing

@testable import RefreshKit

/// A client of a daemon that is in trouble or of a newer version.
@Suite(.serialized, .timeLimit(.minutes(1)))
struct TroubleTests {
  private let daemon: StandIn

  init() throws { daemon = try StandIn() }

  private func connect() async throws -> RefreshClient {
    let socket = daemon.socket
    async let client = RefreshClient.connect(app: "org.example.todo", socket: socket)
    try await daemon.welcome()
    return try await client
  }

  /// A client with a handler, and its attachment.
  private func attach(_ handler: @escaping RefreshClient.Handler) async throws -> (RefreshClient, StandInCall) {
    let client = try await connect()
    async let isSet: Void = client.onRefresh(handler)
    let attach = try await daemon.attach()
    await isSet
    return (client, attach)
  }

  @Test func aCancelledConnectEndsAtOnce() async throws {
    let socket = daemon.socket
    let connecting = Task { try await RefreshClient.connect(app: "org.example.todo", socket: socket) }
    let call = try await daemon.next()
    let start = ContinuousClock.now
    connecting.cancel()
    let error = await #expect(throws: RefreshError.self) { try await connecting.value }
    #expect(error?.code == .cancelled)
    // 100 ms on an idle machine; without an answer it would be 5 s.
    #expect(start.duration(to: .now) < .seconds(2))
    await call.isEnded()
  }

  // MARK: Lost connections

  /// The daemon would hand the next refresh to a new attachment, and the client could not start it.
  @Test func aBusyHandlerAttachesAgainOnlyAfterItReturns() async throws {
    let gate = Gate()
    let (client, attach) = try await attach { _ in
      await gate.passed()
      return .newData
    }
    var events = client.events.makeAsyncIterator()
    #expect(await events.next() == .attached(.background))
    attach.perform("1-1")
    #expect(await events.next() == .started(id: "1-1", .manual))
    attach.end()
    guard case .disconnected = await events.next() else { throw Surprise() }
    let calls = [try await daemon.next(), try await daemon.next()]
    #expect(calls.map(\.name).sorted() == ["Watch", "launched"])
    for call in calls { call.name == "Watch" ? call.sendEvent(#"{"kind":"watching","at_us":0}"#) : call.answer(phase) }
    #expect(await events.next() == .attached(.background))
    gate.open()
    let again = try await daemon.attach()
    again.perform("2-1")
    #expect(try await daemon.next("Complete").outcome == "new_data")
    for call in calls { await call.isEnded() }
  }

  @Test func aLeaseThatEndsWhileItConnectsBlocksNothing() async throws {
    let client = try await connect()
    var events = client.events.makeAsyncIterator()
    #expect(await events.next() == .attached(.background))
    let lease = await client.foreground()
    let first = try await daemon.next("foreground")
    first.answer(#"{"phase":"foreground"}"#)
    async let isSet: Void = client.onRefresh { _ in .noData }
    let attach = try await daemon.attach("foreground")
    await isSet
    #expect(await events.next() == .phaseChanged(.foreground))
    attach.end()
    guard case .disconnected = await events.next() else { throw Surprise() }
    let unanswered = try await daemon.next("foreground")
    _ = try await daemon.attach()
    lease.end()
    await unanswered.isEnded()
    #expect(await events.next() == .attached(.background))
  }

  @Test func aRefusedLeaseEndsNothingElse() async throws {
    let gate = Gate()
    let (client, attach) = try await attach { _ in
      await gate.passed()
      return Task.isCancelled ? .noData : .newData
    }
    var events = client.events.makeAsyncIterator()
    #expect(await events.next() == .attached(.background))
    attach.perform("1-1")
    #expect(await events.next() == .started(id: "1-1", .manual))
    let lease = await client.foreground()
    try await daemon.next("foreground").end()
    let next = try await daemon.next("foreground")
    next.answer(#"{"phase":"foreground"}"#)
    gate.open()
    #expect(try await daemon.next("Complete").outcome == "new_data")
    lease.end()
    await next.isEnded()
  }

  // MARK: Completions

  /// Otherwise the daemon would wait for the completion and hand out no more refreshes.
  @Test func aLostCompletionAttachesAgain() async throws {
    let (client, attach) = try await attach { _ in .newData }
    attach.perform("1-1")
    try await daemon.next("Complete").end()
    await attach.isEnded()
    _ = try await daemon.attach()
    await client.close()
  }

  @Test(arguments: [
    ("org.refreshd.NoSuchToken", "{}"), ("org.refreshd.App.AlreadyCompleted", #"{"outcome":"failed"}"#),
  ])
  func aLateCompletionIsNotRetried(error: String, parameters: String) async throws {
    let (client, attach) = try await attach { _ in .newData }
    attach.perform("1-1")
    try await daemon.next("Complete").fail(error, parameters)
    attach.perform("1-2")
    try await daemon.next("Complete").finish()
    attach.perform("1-3")
    #expect(try await daemon.next().name == "Complete")
    await client.close()
  }

  @Test func aCompletionThatCannotBeSentIsRetried() async throws {
    let (socket, away) = (daemon.socket, daemon.socket + ".away")
    let (client, attach) = try await attach { _ in
      #expect(rename(socket, away) == 0)
      // The first attempt comes before the rename, and the last one after it.
      DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(300)) { rename(away, socket) }
      return .newData
    }
    var events = client.events.makeAsyncIterator()
    #expect(await events.next() == .attached(.background))
    attach.perform("1-1")
    #expect(await events.next() == .started(id: "1-1", .manual))
    let call = try await daemon.next()
    #expect(call.name == "Complete")
    call.finish()
    await client.close()
  }

  // MARK: Later versions

  @Test func valuesOfANewerDaemonAreUnknown() async throws {
    let (client, attach) = try await attach { context in
      let (never, end) = AsyncStream.makeStream(of: Void.self)
      for await _ in never {}
      end.finish()
      return .newData("\(context.trigger)")
    }
    var events = client.events.makeAsyncIterator()
    #expect(await events.next() == .attached(.background))
    attach.sendEvent(#"{"kind":"phase_changed","phase":"asleep"}"#)
    attach.perform("1-1", trigger: "solar")
    guard case .started(_, let trigger) = await events.next() else { throw Surprise() }
    #expect("\(trigger)" == "other")
    attach.sendEvent(#"{"kind":"cancelled","refresh":"1-1","reason":"eclipse"}"#)
    #expect(try await daemon.next("Complete").outcome == "new_data")
  }

  // MARK: Events

  @Test func addingAHandlerNeitherLosesNorRepeatsEvents() async throws {
    let client = try await connectWatched()
    var events = client.client.events.makeAsyncIterator()
    #expect(await events.next() == .attached(.background))
    async let isSet: Void = client.client.onRefresh { _ in .noData }
    let attach = try await daemon.next("Attach")
    client.watch.sendEvent(#"{"kind":"started","at_us":0,"id":"1-1","trigger":"manual"}"#)
    #expect(await events.next() == .started(id: "1-1", .manual))
    client.watch.sendEvent(#"{"kind":"ended","at_us":0,"refresh":\#(Self.ended)}"#)
    attach.sendEvent(#"{"kind":"attached","phase":"foreground"}"#)
    attach.sendEvent(#"{"kind":"ended","refresh":"1-1","outcome":"no_data"}"#)
    attach.perform("1-2")
    await isSet
    let told = [await events.next(), await events.next(), await events.next()]
    #expect(Set(told.prefix(2)) == [.ended(id: "1-1", .noData, message: nil), .phaseChanged(.foreground)])
    #expect(told.last == .started(id: "1-2", .manual))
    await client.launched.isEnded()
    await client.watch.isEnded()
  }

  private func connectWatched() async throws -> (client: RefreshClient, launched: StandInCall, watch: StandInCall) {
    let socket = daemon.socket
    async let client = RefreshClient.connect(app: "org.example.todo", socket: socket)
    let launched = try await daemon.next("launched")
    launched.answer(phase)
    let watch = try await daemon.next("Watch")
    watch.sendEvent(#"{"kind":"watching","at_us":0}"#)
    return (try await client, launched, watch)
  }

  private static let ended = """
    {"id":"1-1","app":"org.example.todo","trigger":"manual","started_us":0,"duration_us":1,"outcome":"no_data",\
    "cpu_us":0,"extra_completions":0,"tasks":[]}
    """

  // MARK: The deadline

  @Test func anEarlierDeadlineIsReported() async throws {
    let (client, attach) = try await attach { context in
      let (warned, warn) = AsyncStream.makeStream(of: Void.self)
      context.onExpiration { warn.finish() }
      for await _ in warned {}
      return context.timeRemaining <= .seconds(3) && context.deadline <= .now + .seconds(3) ? .newData : .noData
    }
    attach.perform("1-1")
    attach.sendEvent(#"{"kind":"expiring","refresh":"1-1","deadline_us":\#(StandInCall.wall(3))}"#)
    #expect(try await daemon.next("Complete").outcome == "new_data")
    await client.close()
  }

  // MARK: After the end

  @Test func aClosedClientAcceptsNothing() async throws {
    final class Held: Sendable {}
    weak var seen: Held?
    do {
      let client = try await connect()
      await client.close()
      let held = Held()
      seen = held
      await client.onRefresh { _ in
        withExtendedLifetime((held, client)) {}
        return .noData
      }
      await client.foreground().end()
    }
    #expect(seen == nil)
  }

  private let phase = #"{"phase":"background"}"#
}

/// A gate that is closed until it is opened.
private struct Gate: Sendable {
  private let stream = AsyncStream.makeStream(of: Void.self)
  private let task: Task<Void, Never>

  init() {
    let stream = stream.stream
    task = Task.detached { for await _ in stream {} }
  }

  func open() { stream.continuation.finish() }

  /// Waits for the gate, even if the caller is cancelled.
  func passed() async { await task.value }
}

private struct Surprise: Error {}
