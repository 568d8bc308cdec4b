import RefreshEngine
import Testing

/// The reason that is told of a refresh that a lost constraint stopped.
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
    let decision = engine.handle(
      .taskEnded(refresh, task: 0, TaskEnd(exit: .signalled(15), message: "half done")), at: now)
    let record = try #require(decision.ended.first)
    #expect(record.stopReason == .constraintLost)
    #expect(record.tasks.map(\.lostConstraint) == [told, told])
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
    #expect(decision.ended.first?.tasks.map(\.message) == ["half done"])
    #expect(decision.ended.first?.tasks.first?.lostConstraint == nil)
  }
}
