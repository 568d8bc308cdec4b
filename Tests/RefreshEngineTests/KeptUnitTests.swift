import RefreshEngine
import Testing

/// Units that a guard has stopped or frozen, when its file changes while the daemon is away, and after a sleep.
@Suite struct KeptUnitTests {
  @Test func `A guard whose id is another one returns what it has stopped under the old one`() throws {
    try expect(
      """
      0s    configure sync guard=sync.service
      0s    disable sync
      0s    keeps 1-1 sync
      1s    down
      1s    configure other guard=sync.service
      2s    up
      2s    returns 2-1 other
      3s    down
      4s    up
      """,
      gives: """
        0s keep 1-1 sync sync.service
        2s give-back 2-1 other sync.service
        """)
  }

  @Test func `A stopped unit that is to be frozen from now on is started first`() throws {
    try expect(
      """
      0s    configure sync guard=sync.service
      0s    disable sync
      0s    keeps 1-1 sync
      1s    down
      1s    configure sync guard=sync.service means=freeze
      2s    up
      3s    returns 2-1 sync
      3s    keeps 2-2 sync
      4s    down
      5s    up
      """,
      gives: """
        0s keep 1-1 sync sync.service
        2s give-back 2-1 sync sync.service
        3s keep 2-2 sync sync.service
        5s keep 3-1 sync sync.service (kept before)
        """)
  }

  @Test func `A unit that was not returned is returned by the next keeper`() throws {
    try expect(
      """
      0s    configure sync guard=sync.service means=freeze
      0s    disable sync
      0s    keeps 1-1 sync
      1s    enable sync
      2s    keeper-fails 1-1 sync
      7s    returns 1-2 sync
      8s    why sync
      """,
      gives: """
        0s keep 1-1 sync sync.service
        1s give-back 1-1 sync sync.service
        7s give-back 1-2 sync sync.service
        8s why sync: clear
        """)
  }

  @Test func `After a long sleep the unit runs on until its command has said no`() throws {
    try expect(
      """
      0s    configure sync guard=sync.service when=vpn
      1s    answers 1-1 sync when yes
      2s    suspend 8h resumed
      8h2s  answers 1-2 sync when yes
      8h3s  why sync
      8h3s  suspend 8h resumed
      16h3s answers 1-3 sync when no
      """,
      gives: """
        0s ask 1-1 sync when
        8h2s ask 1-2 sync when
        8h3s why sync: clear
        16h3s ask 1-3 sync when
        16h3s keep 1-4 sync sync.service
        """)
  }

  @Test func `Only the return by a keeper that runs waits for no disk`() throws {
    let app = try #require(AppID("app.sync"))
    var policy = Policy(foregroundInterval: .never, backgroundInterval: .never, tasks: [])
    policy.guarded = GuardedUnit("sync.service", means: .freeze)
    var engine = Engine(start: 1, spread: Spread(machine: 7), states: [:], wallOffset: .zero)
    let now = Instant(microseconds: 0)
    _ = engine.handle(.configured(Limits(), [app: policy]), at: now)
    for isRunning in [false, true] {
      let kept = engine.handle(.disabled(app, true), at: now).effects
      let keeper = try #require(kept.compactMap { if case .keep(let run, _, _) = $0 { run } else { nil } }.first)
      if isRunning { _ = engine.handle(.keeperReported(keeper, isKept: true, text: "freezing"), at: now) }
      let returned = engine.handle(.disabled(app, false), at: now).effects
      #expect(returned == [.giveBack(keeper, GuardedUnit("sync.service", means: .freeze), isRunning: isRunning)])
      _ = engine.handle(.keeperEnded(keeper, .returned(trouble: nil)), at: now)
    }
  }
}
