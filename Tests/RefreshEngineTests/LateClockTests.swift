import RefreshEngine
import Testing

/// A machine without a real-time clock boots in 1970, and its clock is set a moment later.
@Suite struct LateClockTests {
  private let todo: AppID
  private let saved: Int64 = 1_750_000_000_000_000
  /// An engine whose app was refreshed half an hour before the machine went off.
  private var engine: Engine

  init() throws {
    todo = try #require(AppID("org.example.todo"))
    var state = AppState(lastStart: Instant(microseconds: 0) - .minutes(30))
    state.freshAt = state.lastStart
    state.seenAt = state.lastStart
    engine = Engine(
      start: 2, spread: Spread(machine: 1), states: [todo: state], wallOffset: .zero,
      lateClock: LateClock(savedWall: saved, restoredAt: Instant(microseconds: 0)))
    let policy = Policy(backgroundInterval: .every(.hours(24)), tasks: [TaskPolicy(name: "pull")])
    _ = engine.handle(.configured(Limits(), [todo: policy]), at: Instant(microseconds: 0))
  }

  private mutating func step(toDaysAfterTheSave days: Int64, at seconds: Int64) -> Decision {
    let now = Instant(microseconds: seconds * 1_000_000)
    let wall = saved + days * 86_400_000_000 + now.microseconds
    return engine.handle(.clockStepped(wallOffset: .microseconds(wall - now.microseconds)), at: now)
  }

  @Test mutating func `The first step past the last save counts as time off`() throws {
    let begin = Instant(microseconds: 0)
    var nights = NightsAhead(from: begin)
    #expect(engine.outlook(of: todo, at: begin, &nights).trigger == .interval)
    let decision = step(toDaysAfterTheSave: 3, at: 20)
    let state = try #require(engine.state(of: todo))
    #expect(state.freshAt == Instant(microseconds: 0) - .minutes(30) - .hours(72))
    #expect(decision.changes.apps == [todo])
    #expect(!decision.effects.isEmpty, "the data is three days old, so the app is refreshed")
  }

  @Test mutating func `A later step is only a step`() throws {
    _ = step(toDaysAfterTheSave: 0, at: 20)
    let before = try #require(engine.state(of: todo))
    _ = step(toDaysAfterTheSave: 3, at: 40)
    #expect(engine.state(of: todo)?.freshAt == before.freshAt)
  }

  @Test mutating func `A refresh that starts in the moment of the restoration keeps its start`() throws {
    _ = engine.handle(.requested(todo, .manual), at: Self.boot)
    let running = try #require(engine.state(of: todo)?.running)
    _ = step(toDaysAfterTheSave: 3, at: 20)
    #expect(engine.state(of: todo)?.running == running)
    #expect(engine.state(of: todo)?.lastStart == Self.boot)
  }

  // MARK: - Times ahead

  /// A time that was restored a day ahead or set a day ahead since, and how far ahead it is after the first large step.
  struct Ahead: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let isRestored: Bool
    /// How long the machine was off.
    let off: Duration
    /// How far ahead the time is then; nil where it has passed.
    let ahead: Duration?
  }

  static let times = [
    Ahead(testDescription: "restored, off for 6 h", isRestored: true, off: .hours(6), ahead: .hours(18)),
    Ahead(testDescription: "restored, off for 3 days", isRestored: true, off: .hours(72), ahead: nil),
    Ahead(testDescription: "set before the step, off for 6 h", isRestored: false, off: .hours(6), ahead: .hours(24)),
    Ahead(
      testDescription: "set before the step, off for 3 days", isRestored: false, off: .hours(72), ahead: .hours(24)),
  ]
  private static let boot = Instant(microseconds: 0)
  private static let set = boot + .minutes(10)

  private func restored(
    _ state: AppState = AppState(), device: DeviceState = DeviceState(), transfers: [TransferID: TransferState] = [:],
    pushes: [AppID: [Push]] = [:]
  ) -> Engine {
    var engine = Engine(
      start: 2, spread: Spread(machine: 1), states: [todo: state], wallOffset: .zero, device: device,
      transfers: transfers, pushes: pushes, lateClock: LateClock(savedWall: saved, restoredAt: Self.boot))
    let policy = Policy(backgroundInterval: .never, tasks: [TaskPolicy(name: "pull")])
    _ = engine.handle(.configured(Limits(), [todo: policy]), at: Self.boot)
    return engine
  }

  private func stepping(_ engine: inout Engine, off: Duration) -> Decision {
    engine.handle(
      .clockStepped(wallOffset: .microseconds(saved) + off), at: Self.set + .minutes(1))
  }

  @Test(arguments: times) func `A pause ends at its time of day, unless it was given by the wrong clock`(_ row: Ahead) {
    var device = DeviceState()
    if row.isRestored { device.pause = .until(Self.boot + .hours(24)) }
    var engine = restored(device: device)
    if !row.isRestored { _ = engine.handle(.paused(.until(Self.boot + .hours(24))), at: Self.set) }
    _ = stepping(&engine, off: row.off)
    #expect(engine.device.pause == row.ahead.map { .until(Self.boot + $0) })
  }

  @Test(arguments: times) func `A refresh for later keeps its time of day, unless it was asked for since`(_ row: Ahead)
  {
    let oneShot = OneShot(earliest: Self.boot + .hours(24), reason: "")
    var state = AppState()
    if row.isRestored { state.oneShot = oneShot }
    var engine = restored(state)
    if !row.isRestored { _ = engine.handle(.scheduled(todo, oneShot), at: Self.set) }
    let decision = stepping(&engine, off: row.off)
    #expect(engine.state(of: todo)?.oneShot?.earliest == row.ahead.map { Self.boot + $0 })
    #expect(decision.effects.isEmpty == (row.ahead != nil))
  }

  @Test(arguments: times) func `A server's wait passes while the machine is off, not one given since`(_ row: Ahead)
    throws
  {
    let id = TransferID(1)
    let policy = TransferPolicy(
      session: TransferSession(app: todo, name: "mail"), host: "a", network: .none, enqueuedAt: Self.boot - .hours(1))
    let waiting = TransferState(
      policy: policy, stage: .waiting(from: row.isRestored ? Self.boot + .hours(24) : Self.boot))
    var engine = restored(transfers: [id: waiting])
    if !row.isRestored {
      let wait = Self.set.duration(to: Self.boot + .hours(24))
      _ = engine.handle(.transferReported(id, .retry(after: wait, hasProgressed: false)), at: Self.set)
    }
    let decision = stepping(&engine, off: row.off)
    let state = try #require(engine.transferState(of: id))
    #expect(state.policy.enqueuedAt == Self.boot - .hours(1) - row.off)
    if let ahead = row.ahead {
      #expect(state.stage == .waiting(from: Self.boot + ahead))
    } else {
      #expect(decision.effects == [.transfer(id, todo)])
    }
    #expect(decision.changes.transfers == [id])
  }

  @Test func `A transfer whose days are over is given up, one of this boot is not`() throws {
    func asked(_ instant: Instant) -> TransferPolicy {
      TransferPolicy(session: TransferSession(app: todo, name: "mail"), host: "a", network: .none, enqueuedAt: instant)
    }
    let paused = TransferState(policy: asked(Self.boot - .hours(1)))
    var engine = restored(transfers: [TransferID(1): paused])
    _ = engine.handle(.enqueued([Enqueued(id: TransferID(2), policy: asked(Self.set))]), at: Self.set)
    let decision = stepping(&engine, off: Limits().transfers.giveUp)
    #expect(decision.effects.contains(.stopTransfer(TransferID(1), todo, .expired)))
    #expect(engine.transferState(of: TransferID(2))?.policy.enqueuedAt == Self.set)
    #expect(engine.transferState(of: TransferID(2))?.stage == .transferring)
  }

  @Test(arguments: times.filter(\.isRestored)) func `A push that waits for its next try`(_ row: Ahead) {
    var push = Push(id: PushID(1), payload: "{}", contentID: nil, urgency: .high, at: Self.boot - .hours(1))
    push.earliest = Self.boot + .hours(24)
    var engine = restored(pushes: [todo: [push]])
    let decision = stepping(&engine, off: row.off)
    #expect(decision.effects.isEmpty == (row.ahead != nil))
  }

  @Test func `A refresh that starts at a restored time has started in this boot`() throws {
    var state = AppState(lastStart: Self.boot - .hours(2))
    state.request = Request(trigger: .retry, earliest: Self.set)
    var engine = restored(state)
    _ = engine.handle(.wokeUp, at: Self.set)
    #expect(engine.state(of: todo)?.lastStart == Self.set)
    _ = stepping(&engine, off: .hours(48))
    #expect(engine.state(of: todo)?.lastStart == Self.set)
  }

  @Test mutating func `A clock that runs a second slow is not late`() throws {
    let before = try #require(engine.state(of: todo))
    engine = restored(before)
    _ = engine.handle(.clockStepped(wallOffset: .microseconds(saved)), at: Self.set)
    #expect(engine.state(of: todo) == before, "the machine was off for no time")
    var exact = Engine(
      start: 2, spread: Spread(machine: 1), states: [todo: before], wallOffset: .microseconds(saved),
      lateClock: LateClock(savedWall: saved, restoredAt: Self.boot))
    _ = exact.handle(.configured(Limits(), [todo: Policy(backgroundInterval: .never, tasks: [])]), at: Self.boot)
    _ = exact.handle(.clockStepped(wallOffset: .microseconds(saved) + .seconds(1)), at: Self.set)
    #expect(exact.state(of: todo)?.freshAt == before.freshAt)
    _ = exact.handle(.clockStepped(wallOffset: .microseconds(saved) + .hours(2)), at: Self.set + .minutes(1))
    let moved = try #require(before.freshAt) - .hours(2)
    #expect(exact.state(of: todo)?.freshAt == moved, "a clock that was kept in a file was two hours behind")
  }
}
