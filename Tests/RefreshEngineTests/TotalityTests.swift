import RefreshEngine
import Testing

/// Every event is good at any time: the state machine is total, and what nobody knows changes nothing.
@Suite struct TotalityTests {
  private let id = RefreshID(start: 1, number: 1)
  private let now = Instant(microseconds: 1_000_000)

  /// An engine in each possible state of an app, and the facts that an unknown name must not change.
  private static let states = [
    "nothing configured", "waiting", "running", "warned", "terminating", "killed", "logged out", "retired, running",
    "stopping",
  ]

  private func engine(_ state: String, todo: AppID) -> (Engine, Instant) {
    var engine = Engine(start: 1, spread: Spread(machine: 1), states: [:], wallOffset: .zero)
    let configured = Event.configured(Limits(), [todo: Self.policy])
    var now = self.now
    func play(_ events: Event...) { for event in events { _ = engine.handle(event, at: now) } }
    let ended = Event.taskEnded(id, task: 0, TaskEnd(exit: .exited(0)))
    switch state {
    case "nothing configured": break
    case "waiting": play(configured, ended)
    case "logged out": play(configured, ended, .signalled(todo, .logout))
    case "retired, running": play(configured, .configured(Limits(), [:]))
    case "stopping": play(configured, .stopped(leaving: []))
    default:
      play(configured)
      let passed: [String: [Int64]] = ["warned": [25], "terminating": [30], "killed": [30, 35]]
      for seconds in passed[state] ?? [] {
        now = self.now + .seconds(seconds)
        play(.wokeUp)
      }
    }
    return (engine, now)
  }

  /// Not planned: what is learnt takes the longest, and has tests of its own.
  static let policy = Policy(backgroundInterval: .every(.hours(24)), tasks: [TaskPolicy(name: "task")])

  /// A run that the engine has not begun.
  private func run(of app: AppID, for owner: RunOwner) -> Run { Run(RunID(start: 9, number: 9), of: app, for: owner) }

  @Test(arguments: states)
  func `What names nothing that is there changes nothing`(state: String) throws {
    let (todo, mail) = (try appID("todo"), try appID("mail"))
    let stranger = RefreshID(start: 9, number: 9)
    let events: [Event] = [
      .signalled(mail, .foreground), .leased(LeaseID(3), mail, .foreground), .leaseEnded(LeaseID(3), mail),
      .leaseEnded(LeaseID(3), todo), .overridden(mail, Overrides(backgroundInterval: .never)),
      .shown(mail, .front), .ownerPresent(mail, false), .requested(mail, .manual),
      .completed(stranger, task: 0, .newData, message: ""),
      .taskEnded(stranger, task: 0, TaskEnd(exit: .exited(0))), .completed(id, task: 5, .newData, message: ""),
      .taskEnded(id, task: -1, TaskEnd(exit: .exited(0))), .wokeUp, .clockStepped(wallOffset: .hours(5)),
      .answered(run(of: todo, for: .question(.when)), FactState(isMet: true, text: "")),
      .answered(run(of: todo, for: .keeper), FactState(isMet: true, text: "")),
      .withdrawn(run(of: todo, for: .question(.when))),
      .keeperReported(run(of: todo, for: .keeper), isKept: true, text: ""),
      .keeperEnded(run(of: todo, for: .keeper), .returned(trouble: nil)),
    ]
    for event in events {
      var (engine, now) = engine(state, todo: todo)
      let before = (engine.state(of: todo), engine.verdict(on: todo, at: now), engine.nextWake)
      let decision = engine.handle(event, at: now)
      #expect(decision == Decision(), "\(event)")
      let after = (engine.state(of: todo), engine.verdict(on: todo, at: now), engine.nextWake)
      #expect(before == after, "\(event)")
      #expect(engine.state(of: mail) == nil)
    }
  }

  @Test(arguments: states)
  func `Every event has an answer in every state, and leaves no app ready`(state: String) throws {
    let todo = try appID("todo")
    var policy = Self.policy
    policy.backgroundInterval = .every(.minutes(15))
    var events: [Event] = Signal.allCases.flatMap { signal -> [Event] in
      [.signalled(todo, signal), .leased(LeaseID(1), todo, signal)]
    }
    events += Trigger.allCases.map { .requested(todo, $0) }
    events += [
      .leaseEnded(LeaseID(1), todo), .overridden(todo, Overrides(foregroundInterval: .never)),
      .completed(id, task: 0, .failed(.reported("")), message: ""), .wokeUp, .stopped(leaving: []),
      .configured(Limits(), [:]),
      .attached(todo), .detached(todo), .ownerPresent(todo, true), .ownerPresent(todo, false),
      .suspending(until: Instant(microseconds: 5_000_000)), .resumed,
      .survived(id, tasks: [0]), .configured(Limits(), [todo: policy]),
      .taskEnded(id, task: 0, TaskEnd(exit: .notStarted("no memory"))),
    ]
    for first in events {
      for second in events {
        var (engine, now) = engine(state, todo: todo)
        for event in [first, second] {
          let before = engine.state(of: todo) ?? AppState()
          let decision = engine.handle(event, at: now)
          let isSame = (engine.state(of: todo) ?? AppState()) == before
          let change = "\(state): \(first), \(second)"
          #expect(decision.changes.apps.contains(todo) || isSame, "\(change)")
          if case .ready = engine.verdict(on: todo, at: now) { Issue.record("ready is not started: \(change)") }
        }
      }
    }
  }

  @Test func `Answers may be asked for at any time`() throws {
    let todo = try appID("todo")
    var (engine, now) = engine("running", todo: todo)
    #expect(engine.refreshes == [id])
    #expect(engine.outcome(of: id, task: 0) == nil)
    #expect(engine.outcome(of: id, task: 1) == nil)
    _ = engine.handle(.completed(id, task: 0, .noData, message: ""), at: now)
    #expect(engine.outcome(of: id, task: 0) == .noData)
    _ = engine.handle(.taskEnded(id, task: 0, TaskEnd(exit: .exited(0))), at: now)
    #expect(engine.outcome(of: id, task: 0) == nil)
    #expect(engine.refreshingCount == 0)
    #expect(engine.configuredApps == [todo])
    #expect(engine.phase(of: todo) == .background)
    #expect(engine.backgroundInterval(of: todo) == .every(.hours(24)))
  }
}
