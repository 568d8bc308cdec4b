import RefreshEngine
import Testing

/// The next refresh of an app whose plan a night makes anew before it.
@Suite struct NightsAheadTests {
  private static let intervals: [BackgroundInterval] = [
    .auto(floor: .hours(2)), .auto(floor: .hours(8)), .auto(floor: .hours(24)), .auto(floor: .hours(40)),
  ]

  /// Some days of apps of every interval, each opened at a time of its own.
  private static func live(_ days: Int64, _ look: (Engine, Instant) throws -> Void) throws {
    var engine = Engine(start: 1, spread: Spread(machine: 1), states: [:], wallOffset: PlanningTests.monday)
    let ids = try Self.intervals.indices.map { try appID("a\($0)") }
    let apps = zip(ids, Self.intervals).map { ($0, PlanningTests.policy($1)) }
    var now = Instant(microseconds: 0)
    func pass(_ event: Event) {
      var events = [event]
      while !events.isEmpty {
        let decision = engine.handle(events.removeFirst(), at: now)
        for case .start(let refresh, let app, _, _) in decision.effects {
          let isNew = (now.microseconds / 3_600_000_000 + Int64(app.description.utf8.last ?? 0)) % 3 == 0
          events.append(.taskEnded(refresh, task: 0, TaskEnd(exit: .exited(isNew ? 0 : 100))))
        }
      }
    }
    pass(.configured(Limits(), Dictionary(uniqueKeysWithValues: apps)))
    for hour in 0..<24 * days {
      let end = Instant(microseconds: 0) + .hours(hour)
      while let wake = engine.nextWake, wake.earliest <= end {
        now = max(now, wake.earliest)
        pass(.wokeUp)
      }
      now = end
      for (number, id) in ids.enumerated() where hour % 24 == Int64(8 + 4 * number) {
        pass(.signalled(id, .foreground))
        pass(.signalled(id, .background))
      }
      try look(engine, now)
    }
  }

  @Test func `A plan that a night makes anew is foreseen as the forecast has it`() throws {
    var foreseen = 0
    try Self.live(10) { engine, now in
      // Every third hour, and each hour of a day within three days.
      let hour = now.microseconds / 3_600_000_000
      guard (hour + hour / 24) % 3 == 0 else { return }
      let wakes = Forecast(of: engine, for: .hours(100), at: now).wakes
      var nights = NightsAhead(from: now)
      for id in engine.configuredApps {
        let said = try #require(engine.prospect(of: id, at: now, &nights))
        let start = try #require(wakes.first { $0.starts.contains { $0.app == id } }).window.earliest
        let window = try #require(said.start)
        #expect(window.earliest <= start && start <= window.latest, "\(id) at \(now)")
        if said.plannedAt != nil { foreseen += 1 }
      }
    }
    #expect(foreseen > 133)
  }

  @Test func `What is due in weeks has the time of the plan in force`() throws {
    let engine = try PlanningTests.engine(3, PlanningTests.policy(.auto(floor: .hours(60 * 24))))
    let now = Instant(microseconds: 0) + .hours(5)
    for id in engine.configuredApps {
      let said = try #require(engine.prospect(of: id, at: now))
      #expect(said.plannedAt == nil && said.start == said.due)
      #expect(said.due.map { $0.earliest <= now + .hours(61 * 24) } == true, "\(said)")
    }
  }

  @Test func `Of many apps each is looked at alone, and of very many some are not`() throws {
    var engine = try PlanningTests.engine(120, PlanningTests.policy(.auto(floor: .hours(30))))
    let now = Instant(microseconds: 0) + .hours(5)
    _ = engine.handle(.wokeUp, at: now)
    var nights = NightsAhead(from: now)
    let said = engine.configuredApps.map { engine.prospect(of: $0, at: now, &nights) }
    #expect(said.count { $0?.plannedAt == Instant(microseconds: 0) + .hours(24) } == 100)
    #expect(said.allSatisfy { $0?.start != nil })
  }

  @Test func `Of many apps one with an open question starts after the night, whatever the first app is`() throws {
    let policy = PlanningTests.policy(.auto(floor: .hours(30)))
    var engine = try PlanningTests.engine(40, policy)
    let now = Instant(microseconds: 0) + .hours(5)
    let (first, asking) = (try appID("a0"), try appID("a9"))
    var policies = Dictionary(uniqueKeysWithValues: engine.configuredApps.map { ($0, policy) })
    policies[first] = nil
    policies[asking]?.constraints.when = "vpn"
    _ = engine.handle(.configured(Limits(), policies), at: now)
    let said = try #require(engine.prospect(of: asking, at: now))
    #expect(said.plannedAt == Instant(microseconds: 0) + .hours(24))
    #expect(said.start != nil, "\(said)")
  }
}
