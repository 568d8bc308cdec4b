import FoundationEssentials
import Glibc
import Simulator
import Testing

/// Every promise holds in every simulation: faults first, then all must come to rest by itself.
@Suite struct SeedsTests {
  private static let days: UInt64 = 10

  /// As many as `SIMULATOR_SEEDS` says, from 1; the default takes well under a minute in a debug build.
  private static var seeds: ClosedRange<UInt64> {
    1...(getenv("SIMULATOR_SEEDS").flatMap { UInt64(String(cString: $0)) } ?? 60)
  }

  /// The lines of `traces.txt`: `simulate --seed 1 --seeds 60 --days 10`.
  private static let traces: [Substring] = {
    let folder = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
    let text = (try? String(contentsOfFile: "\(folder)/traces.txt", encoding: .utf8)) ?? ""
    return text.split(separator: "\n")
  }()

  @Test(arguments: seeds) func `All promises hold, and the decisions are those of before`(seed: UInt64) throws {
    var world = World(seed: seed, checks: Invariants.all())
    world.run(for: .hours(24) * Int(Self.days))
    let replay = "swift run simulate --seed \(seed) --days \(Self.days) --trace"
    #expect(world.violations.isEmpty, "\(world.violations); to see it: \(replay)")
    #expect(world.store.starts > 1, "the daemon never went down")
    try #require(Self.traces.count == 60)
    guard seed <= Self.traces.count else { return }
    #expect(
      world.summary(seed: seed, days: Self.days) == Self.traces[Int(seed) - 1],
      "a decision changed; if that is what you want, say which in the commit, and write traces.txt again: \(replay)")
  }
}
