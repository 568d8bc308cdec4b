import RefreshEngine
import Testing

/// The next refresh of an app whose plan a night makes anew before it.
@Suite struct NightsAheadTests {
  private static let intervals: [Interval] = [
    .every(.hours(2)), .every(.hours(8)), .every(.hours(24)), .every(.hours(40)),
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

  /// The forecast lets the other apps be refreshed before the night, so on the first days, when little is learnt, the
  /// means over all apps may move a plan; later by seconds at most.
  @Test func `A plan that a night makes anew is foreseen as the forecast has it`() throws {
    var foreseen = 0
    try Self.live(10) { engine, now in
      guard now >= Instant(microseconds: 0) + .hours(24) else { return }
      let wakes = Forecast(of: engine, for: .hours(100), at: now).wakes
      for id in engine.configuredApps {
        let said = try #require(engine.prospect(of: id, at: now))
        let start = try #require(wakes.first { $0.starts.contains { $0.app == id } }).window.earliest
        let off = try #require(said.start).earliest.duration(to: start)
        #expect(max(off, .zero - off) < .seconds(60), "\(id) at \(now)")
        if said.plannedAt != nil { foreseen += 1 }
      }
    }
    #expect(foreseen > 400)
  }

  @Test func `The look ahead changes nothing, and may be left out`() throws {
    try Self.live(2) { engine, now in
      for id in engine.configuredApps {
        let said = engine.prospect(of: id, at: now, foreseesNights: false)
        #expect(said?.plannedAt == nil)
        let window = try #require(engine.explain(id, at: now)?.window)
        #expect(said?.start?.earliest == max(now, window.earliest))
      }
    }
  }
}
