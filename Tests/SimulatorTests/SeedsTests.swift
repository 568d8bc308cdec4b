import Glibc
import Simulator
import Testing

/// Every promise holds in every simulation: faults first, then all must come to rest by itself.
@Suite struct SeedsTests {
  private static let days = 10

  /// As many as `SIMULATOR_SEEDS` says, from 1; the default takes well under a minute in a debug build.
  private static var seeds: ClosedRange<UInt64> {
    1...(getenv("SIMULATOR_SEEDS").flatMap { UInt64(String(cString: $0)) } ?? 60)
  }

  @Test(arguments: seeds) func `All promises hold`(seed: UInt64) {
    var world = World(seed: seed, checks: Invariants.all())
    world.run(for: .hours(24) * Self.days)
    let replay = "swift run simulate --seed \(seed) --days \(Self.days) --trace"
    #expect(world.violations.isEmpty, "\(world.violations); to see it: \(replay)")
    #expect(world.store.starts > 1, "the daemon never went down")
  }
}
