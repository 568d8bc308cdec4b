import Testing

@testable import RefreshEngine

/// A start that is performed late, because the store was slow to save it.
@Suite struct BeginTests {
  private let todo: AppID
  private var engine = Engine(start: 1, spread: Spread(machine: 1), states: [:], wallOffset: .zero, awaitsBegin: true)
  private var policy = Policy(
    backgroundInterval: .never, deadline: .seconds(30), grace: .seconds(5), tasks: [TaskPolicy(name: "task")])

  init() throws {
    todo = try appID("todo")
    policy.constraints.network = .any
    var limits = Limits()
    limits.maxConcurrent = 1
    handle(.configured(limits, [todo: policy]), at: 0)
    handle(.observed(.network(Reading(Network(), source: "test"))), at: 0)
  }

  @discardableResult
  private mutating func handle(_ event: Event, at seconds: Int64) -> Decision {
    engine.handle(event, at: at(seconds))
  }

  private func at(_ seconds: Int64) -> Instant { Instant(microseconds: seconds * 1_000_000) }

  /// Has the app refreshed at once; its start is decided, and not performed yet.
  private mutating func start() throws -> RefreshID {
    let decision = handle(.requested(todo, .manual), at: 1)
    guard case .start(let refresh, _, _, _) = try #require(decision.effects.first) else {
      throw ScriptError(text: "it does not start: \(decision)")
    }
    return refresh
  }

  @Test mutating func `Its deadline counts from the start of its processes, however late that is`() throws {
    let refresh = try start()
    #expect(engine.nextWake == nil, "no deadline runs")
    #expect(handle(.wokeUp, at: 600).effects.isEmpty)
    handle(.began(refresh), at: 600)
    #expect(engine.deadline(of: refresh) == at(630))
    #expect(handle(.wokeUp, at: 625).effects == [.warn(refresh, todo, deadline: at(630))])
    #expect(handle(.wokeUp, at: 630).effects == [.terminate(refresh, todo, .deadline)])
    #expect(handle(.wokeUp, at: 634).effects.isEmpty, "it has its whole grace")
    #expect(handle(.wokeUp, at: 635).effects == [.kill(refresh, todo)])
    let ended = handle(.taskEnded(refresh, task: 0, TaskEnd(exit: .signalled(9))), at: 636).changes.history.refreshes
    #expect(ended.first?.tasks.first?.duration == .seconds(36))
  }

  @Test func `When its reason is gone before, it ends at once and is not started`() throws {
    let offline = Reading(Network(reach: .offline), source: "test")
    let reasons: [(Event, StopReason)] = [
      (.disabled(todo, true), .user), (.signalled(todo, .logout), .logout),
      (.observed(.network(offline)), .constraintLost), (.stopped(leaving: []), .shutdown),
      (.suspending(until: at(70)), .sleep), (.configured(Limits(), [:]), .unconfigured),
    ]
    for (event, reason) in reasons {
      var test = self
      let refresh = try test.start()
      let decision = test.handle(event, at: 60)
      #expect(decision.effects.isEmpty, "no process is there that a signal could end")
      let record = try #require(decision.changes.history.refreshes.first)
      #expect(record.id == refresh && record.stopReason == reason)
      #expect(record.tasks.map(\.outcome) == [.failed(.stopped(reason))])
      #expect(test.engine.refreshingCount == 0 && test.engine.deadline(of: refresh) == nil)
      #expect(test.handle(.began(refresh), at: 61).effects.isEmpty)
    }
  }

  @Test mutating func `A hold that came up meanwhile keeps it from starting, and it runs when the hold is lifted`()
    throws
  {
    let refresh = try start()
    handle(.paused(.untilResumed), at: 60)
    #expect(handle(.began(refresh), at: 61).changes.history.refreshes.isEmpty, "a person's refresh passes a pause")
    handle(.taskEnded(refresh, task: 0, TaskEnd(exit: .exited(75))), at: 62)
    handle(.paused(nil), at: 3000)
    let again = try #require(engine.refreshes.first)
    handle(.paused(.untilResumed), at: 3001)
    let record = try #require(handle(.began(again), at: 3002).changes.history.refreshes.first)
    #expect(record.stopReason == .constraintLost)
    #expect(handle(.paused(nil), at: 3600).effects.count == 1)
  }
}
