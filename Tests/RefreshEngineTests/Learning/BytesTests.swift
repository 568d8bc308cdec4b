import Testing

@testable import RefreshEngine

/// Bytes are part of what a refresh costs, and those over a metered network have a budget.
@Suite struct BytesTests {
  /// An engine in which an app was refreshed once, and what that took.
  private static func engine(metered: Network.Metered, bytes: Int64?) throws -> (Engine, AppID) {
    let todo = try appID("todo")
    let policy = Policy(tasks: [TaskPolicy(name: "task")])
    var engine = Engine(start: 1, spread: Spread(machine: 1), states: [:], wallOffset: .zero)
    let now = Instant(microseconds: 0)
    _ = engine.handle(.observed(.network(Reading(Network(metered: metered), source: "script"))), at: now)
    let decision = engine.handle(.configured(Limits(), [todo: policy]), at: now)
    for case .start(let refresh, _, _, _) in decision.effects {
      let end = TaskEnd(exit: .exited(0), cpu: .seconds(1), bytes: bytes)
      _ = engine.handle(.taskEnded(refresh, task: 0, end), at: now + .seconds(2))
    }
    return (engine, todo)
  }

  @Test func `A byte over a metered network counts as ten`() throws {
    let (free, id) = try Self.engine(metered: .no, bytes: 5_000_000)
    let (metered, _) = try Self.engine(metered: .yes, bytes: 5_000_000)
    #expect(try #require(free.learned(of: id)).measuredCost.means == SIMD3(2, 1, 5_000))
    #expect(try #require(metered.learned(of: id)).measuredCost.means == SIMD3(2, 1, 50_000))
  }

  @Test func `Where nobody counts bytes they have no part in the cost`() throws {
    let (engine, id) = try Self.engine(metered: .yes, bytes: nil)
    let learned = try #require(engine.learned(of: id))
    #expect(learned.measuredCost.means == SIMD3(2, 1, 0))
    var device = engine.device.learnings
    device.beginNight()
    device.absorb(learned)
    device.endNight()
    #expect(abs(learned.cost(device, Pins()) - 1) < 0.01)
  }

  @Test func `An app of many bytes costs more than one of few`() throws {
    let (small, id) = try Self.engine(metered: .no, bytes: 10_000)
    let (large, _) = try Self.engine(metered: .no, bytes: 1_000_000)
    let both = [small, large].compactMap { $0.learned(of: id) }
    var device = small.device.learnings
    device.beginNight()
    for learned in both { device.absorb(learned) }
    device.endNight()
    #expect(both[0].cost(device, Pins()) < 1)
    #expect(both[1].cost(device, Pins()) > 2)
  }
}
