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
    var policy = Policy(backgroundInterval: .every(.hours(24)), tasks: [TaskPolicy(name: "pull")])
    policy.isAdaptive = false
    _ = engine.handle(.configured(Limits(), [todo: policy]), at: Instant(microseconds: 0))
  }

  private mutating func step(toDaysAfterTheSave days: Int64, at seconds: Int64) -> Decision {
    let now = Instant(microseconds: seconds * 1_000_000)
    let wall = saved + days * 86_400_000_000 + now.microseconds
    return engine.handle(.clockStepped(wallOffset: .microseconds(wall - now.microseconds)), at: now)
  }

  @Test mutating func `The first step past the last save counts as time off`() throws {
    #expect(engine.dueTrigger(of: todo, at: Instant(microseconds: 0)) == .interval)
    let decision = step(toDaysAfterTheSave: 3, at: 20)
    let state = try #require(engine.state(of: todo))
    #expect(state.freshAt == Instant(microseconds: 0) - .minutes(30) - .hours(72))
    #expect(decision.changed == [todo])
    #expect(!decision.effects.isEmpty, "the data is three days old, so the app is refreshed")
  }

  @Test mutating func `A later step is only a step`() throws {
    _ = step(toDaysAfterTheSave: 0, at: 20)
    let before = try #require(engine.state(of: todo))
    _ = step(toDaysAfterTheSave: 3, at: 40)
    #expect(engine.state(of: todo)?.freshAt == before.freshAt)
  }
}
