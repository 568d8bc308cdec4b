import RefreshEngine
import Testing

/// The reported reason of a refresh that a lost constraint stopped.
@Suite struct LostConstraintTests {
  private static let online = Network(metered: .no, medium: .wifi, interface: "wlan0", ssid: "Home")

  private static let losses: [(change: Observation, told: String)] = [
    (
      .network(Reading(Network(metered: .yes, medium: .wifi, interface: "wlan0", ssid: "Phone"), source: "test")),
      "needed an unmetered network, had wlan0 (Phone), metered"
    ),
    (.network(Reading(Network(reach: .offline), source: "test")), "needed an unmetered network, had offline"),
    (
      .power(Reading(Power(onBattery: true, percent: 64), source: "test")),
      "needed mains power, had on battery, 64 %"
    ),
  ]

  @Test(arguments: losses) func `It says what it needed and what it had`(change: Observation, told: String) throws {
    let todo = try appID("todo")
    var engine = Engine(start: 1, spread: Spread(machine: 1), states: [:], wallOffset: .zero)
    var next = TaskPolicy(name: "next")
    next.after = [0]
    var policy = Policy(tasks: [TaskPolicy(name: "task"), next])
    policy.constraints.network = .unmetered
    policy.constraints.power = .ac
    let now = Instant(microseconds: 0)
    _ = engine.handle(.observed(.network(Reading(Self.online, source: "test"))), at: now)
    _ = engine.handle(.observed(.power(Reading(Power(), source: "test"))), at: now)
    _ = engine.handle(.configured(Limits(), [todo: policy]), at: now)
    let refresh = try #require(engine.refreshes.first)
    _ = engine.handle(.observed(change), at: now)
    _ = engine.handle(.wokeUp, at: now + .seconds(5))
    let decision = engine.handle(
      .taskEnded(refresh, task: 0, TaskEnd(exit: .signalled(15), message: "half done")), at: now + .seconds(5))
    let record = try #require(decision.changes.history.refreshes.first)
    #expect(record.stopReason == .constraintLost)
    #expect(record.tasks.map(\.lostConstraint) == [told, told])
  }

  @Test func `It is warned at once, and stopped five seconds later`() throws {
    try expect(
      """
      0s   network wired
      0s   configure todo foreground=never background=1h network=any takes=20s deadline=30s
      2s   network gone
      10s  network wired
      30s  end
      """,
      gives: """
        0s  start 1-1 todo (interval)
        2s  warn 1-1 todo
        7s  terminate 1-1 todo (constraint-lost)
        8s  end 1-1 todo failed stopped by constraint-lost (constraint-lost)
        10s start 1-2 todo (retry)
        30s end 1-2 todo new-data
        """, only: ["start", "warn", "terminate", "end"])
  }

  @Test func `It goes on when the constraint is met again in time, and is warned again before its deadline`() throws {
    try expect(
      """
      0s   network wired
      0s   configure todo foreground=never background=1h network=any takes=forever deadline=30s
      2s   network gone
      6s   network wired
      40s  end
      """,
      gives: """
        0s  start 1-1 todo (interval)
        2s  warn 1-1 todo
        25s warn 1-1 todo
        30s terminate 1-1 todo (deadline)
        """, only: ["start", "warn", "terminate"])
  }

  @Test func `Near its deadline it is not warned again and stopped there`() throws {
    try expect(
      """
      0s   network wired
      0s   configure todo foreground=never background=1h network=any takes=forever deadline=30s
      27s  network gone
      40s  end
      """,
      gives: """
        0s  start 1-1 todo (interval)
        25s warn 1-1 todo
        30s terminate 1-1 todo (deadline)
        """, only: ["start", "warn", "terminate"])
  }

  @Test func `A refresh that is not warned before its deadline is stopped at once`() throws {
    try expect(
      """
      0s   network wired
      0s   configure todo foreground=never background=1h network=any takes=forever deadline=5s
      2s   network gone
      9s   end
      """,
      gives: """
        0s  start 1-1 todo (interval)
        2s  terminate 1-1 todo (constraint-lost)
        """, only: ["start", "warn", "terminate"])
  }

  @Test func `A machine that sleeps over both stops it for the constraint, which is no overrun`() throws {
    try expect(
      """
      0s   network wired
      0s   configure todo foreground=never background=1h network=any takes=forever deadline=30s
      2s   network gone
      3s   suspend 8h
      9h   end
      """,
      gives: """
        0s    start 1-1 todo (interval)
        2s    warn 1-1 todo
        8h3s  terminate 1-1 todo (constraint-lost)
        """, only: ["start", "warn", "terminate"])
  }

  @Test func `A second lost constraint changes nothing, and logging out does not wait`() throws {
    try expect(
      """
      0s   network wired
      0s   power mains
      0s   configure todo foreground=never background=1h network=any power=ac takes=forever deadline=30s
      2s   network gone
      3s   power battery
      4s   logout todo
      """,
      gives: """
        0s  start 1-1 todo (interval)
        2s  warn 1-1 todo
        4s  terminate 1-1 todo (logout)
        """, only: ["start", "warn", "terminate"])
  }

  @Test func `What another reason stopped keeps its last line`() throws {
    let todo = try appID("todo")
    var engine = Engine(start: 1, spread: Spread(machine: 1), states: [:], wallOffset: .zero)
    let now = Instant(microseconds: 0)
    _ = engine.handle(.configured(Limits(), [todo: Policy(tasks: [TaskPolicy(name: "task")])]), at: now)
    let refresh = try #require(engine.refreshes.first)
    _ = engine.handle(.disabled(todo, true), at: now)
    let decision = engine.handle(
      .taskEnded(refresh, task: 0, TaskEnd(exit: .signalled(15), message: "half done")), at: now)
    #expect(decision.changes.history.refreshes.first?.tasks.map(\.message) == ["half done"])
    #expect(decision.changes.history.refreshes.first?.tasks.first?.lostConstraint == nil)
  }
}
