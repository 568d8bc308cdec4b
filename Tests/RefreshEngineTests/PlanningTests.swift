import RefreshEngine
import Testing

/// Plans in the engine: when they are made, what they may cost, and what they outlive.
@Suite struct PlanningTests {
  /// Monday at midnight, Unix time.
  static let monday = Duration.hours(4 * 24)

  static func policy(_ interval: BackgroundInterval = .auto()) -> Policy {
    Policy(backgroundInterval: interval, tasks: [TaskPolicy(name: "task")])
  }

  /// An engine with apps that were refreshed once, at its instant zero, and with no round under way.
  static func engine(_ count: Int, _ policy: Policy = policy(), limits: Limits = Limits()) throws -> Engine {
    var engine = Engine(start: 1, spread: Spread(machine: 1), states: [:], wallOffset: monday)
    let ids = try (0..<count).map { try appID("a\($0)") }
    let apps = Dictionary(uniqueKeysWithValues: ids.map { ($0, policy) })
    var decision = engine.handle(.configured(limits, apps), at: Instant(microseconds: 0))
    var now = Instant(microseconds: 0)
    var ended = 0
    while ended < count {
      for case .start(let refresh, _, _, _) in decision.effects {
        _ = engine.handle(.taskEnded(refresh, task: 0, TaskEnd(exit: .exited(0))), at: now)
        ended += 1
      }
      now = max(now, engine.nextWake?.earliest ?? now)
      decision = engine.handle(.wokeUp, at: now)
    }
    return engine
  }

  @Test func `A plan is saved and outlives the daemon`() throws {
    let engine = try Self.engine(3)
    let ids = engine.configuredApps
    let states = Dictionary(uniqueKeysWithValues: ids.compactMap { id in engine.state(of: id).map { (id, $0) } })
    let learned = Dictionary(uniqueKeysWithValues: ids.compactMap { id in engine.learned(of: id).map { (id, $0) } })
    #expect(learned.count == 3)
    var again = Engine(
      start: 2, spread: Spread(machine: 1), states: states, wallOffset: Self.monday, device: engine.device,
      learned: learned)
    let now = Instant(microseconds: 0) + .minutes(8)
    _ = again.handle(.configured(Limits(), Dictionary(uniqueKeysWithValues: ids.map { ($0, Self.policy()) })), at: now)
    for id in ids {
      #expect(again.state(of: id)?.planned == states[id]?.planned)
      #expect(again.habits(of: id) == engine.habits(of: id))
    }
  }

  @Test func `A night goes through many apps in slices, and each has passed it before the next quarter of an hour`()
    throws
  {
    var engine = try Self.engine(120)
    let midnight = Instant(microseconds: 0) + .hours(24)
    var now = try #require(engine.nextWake?.earliest)
    var (wakes, most) = (0, 0)
    while now < midnight + .minutes(15) {
      let before = engine.configuredApps.map { engine.learned(of: $0)?.encoded }
      let decision = engine.handle(.wokeUp, at: now)
      for case .start(let refresh, _, _, _) in decision.effects {
        _ = engine.handle(.taskEnded(refresh, task: 0, TaskEnd(exit: .exited(100))), at: now)
      }
      if now >= midnight, decision.effects.isEmpty {
        wakes += 1
        most = max(most, zip(before, engine.configuredApps).count { $0 != engine.learned(of: $1)?.encoded })
      }
      now = max(now, try #require(engine.nextWake?.earliest))
    }
    #expect(wakes >= 12)
    #expect((1...10).contains(most), "\(most) apps in one slice")
    #expect(engine.device.day == 8)
  }

  @Test func `A night after days off goes through fewer apps in a slice than one after a day`() throws {
    func wakes(after days: Int64) throws -> Int {
      var engine = try Self.engine(60)
      // Passed once, so that the learners have days to end.
      var now = Instant(microseconds: 0) + .hours(25)
      var count = 0
      for _ in 0..<2 {
        count = 0
        while let wake = engine.nextWake, wake.earliest <= now {
          for case .start(let refresh, _, _, _) in engine.handle(.wokeUp, at: now).effects {
            _ = engine.handle(.taskEnded(refresh, task: 0, TaskEnd(exit: .exited(100))), at: now)
          }
          count += 1
        }
        now = now + .hours(24 * days)
      }
      return count
    }
    #expect(try wakes(after: 6) > wakes(after: 1))
  }

  @Test func `A power-saver profile makes a refresh four times as dear, and ignoring it does not`() throws {
    for (setting, factor) in [(PowerSaver.dearer, 4.0), (.ignore, 1), (.stop, 1)] {
      var limits = Limits()
      limits.powerSaver = setting
      var engine = try Self.engine(1, limits: limits)
      let id = try appID("a0")
      let now = Instant(microseconds: 0) + .minutes(5)
      let before = try #require(engine.explain(id, at: now)?.planning?.price)
      _ = engine.handle(.observed(.powerSaver(Reading(true, source: "test"))), at: now)
      #expect(engine.explain(id, at: now)?.planning?.price == before * factor)
    }
  }

  @Test func `Another profile changes the price at once`() throws {
    var engine = try Self.engine(1)
    let id = try appID("a0")
    let now = Instant(microseconds: 0) + .minutes(5)
    let before = try #require(engine.explain(id, at: now)?.planning?.price)
    var limits = Limits()
    limits.profile = .thrifty
    _ = engine.handle(.configured(limits, [id: Self.policy()]), at: now)
    let after = try #require(engine.explain(id, at: now)?.planning?.price)
    #expect(abs(after / before - 100 / 10.5) < 0.01)
  }

  @Test func `A refresh that fails for good is planned after as one that went well`() throws {
    var engine = try Self.engine(1)
    let id = try appID("a0")
    let due = try #require(engine.explain(id, at: Instant(microseconds: 0))?.window?.earliest)
    var now = due
    var starts: [Instant] = []
    while starts.count < 5 {
      for case .start(let refresh, _, _, _) in engine.handle(.wokeUp, at: now).effects {
        starts.append(now)
        _ = engine.handle(.taskEnded(refresh, task: 0, TaskEnd(exit: .exited(1))), at: now)
      }
      now = max(now, try #require(engine.nextWake?.earliest))
    }
    // The floor is 15 min: a broken app does not run each time it may.
    #expect(starts[0].duration(to: starts[4]) > .hours(4))
  }

  @Test func `What is forgotten is learnt anew`() throws {
    var engine = try Self.engine(1)
    let id = try appID("a0")
    let now = Instant(microseconds: 0) + .minutes(5)
    let fresh = try #require(engine.habits(of: id)?.usage.openingsPerDay)
    for minutes in [0, 20, 40] {
      let moment = now + .minutes(Int64(minutes))
      let decision = engine.handle(.signalled(id, .foreground), at: moment)
      #expect(decision.changes.history.openings.map(\.app) == [id])
      _ = engine.handle(.signalled(id, .background), at: moment)
    }
    #expect(try #require(engine.habits(of: id)?.usage.openingsPerDay) > fresh)
    let decision = engine.handle(.forgotten(id), at: now + .minutes(41))
    #expect(decision.changes.learned == [id])
    #expect(engine.habits(of: id)?.usage.openingsPerDay == fresh)
  }

  @Test func `A clock that was far ahead does not keep the nights from coming`() throws {
    var engine = try Self.engine(1)
    let now = Instant(microseconds: 0) + .hours(2)
    _ = engine.handle(.clockStepped(wallOffset: Self.monday + .hours(24 * 400)), at: now)
    for _ in 0..<5 { _ = engine.handle(.wokeUp, at: now) }
    #expect(engine.device.day == 407)
    _ = engine.handle(.clockStepped(wallOffset: Self.monday), at: now)
    #expect(engine.device.day == 7)
  }
}
