import Foundation
import Testing

/// The real daemon for days of virtual time, with a disk, processes and a machine that fail.
///
/// `REFRESH_DAEMON_SEEDS=1000` runs so many seeds, and `REFRESH_DAEMON_SEED=17` that one, with its trace.
@Suite struct DaemonSimulationTests {
  private static func number(_ name: String) -> Int? { ProcessInfo.processInfo.environment[name].flatMap(Int.init) }

  /// A seed has one trace, too: the last one runs twice.
  @Test func theDaemonKeepsItsPromises() throws {
    let one = Self.number("REFRESH_DAEMON_SEED")
    let seeds = one.map { $0...$0 } ?? 1...(Self.number("REFRESH_DAEMON_SEEDS") ?? 3)
    var last: [String] = []
    for seed in seeds {
      let world = try SimulatedWorld(seed: UInt64(seed))
      world.run()
      if let violation = world.book.violation {
        let trace = world.trace.suffix(60).joined(separator: "\n")
        Issue.record("seed \(seed) breaks \(violation.promise): \(violation.text)\n\(trace)")
      }
      if one != nil { print(world.trace.joined(separator: "\n")) }
      last = world.trace
    }
    let again = try SimulatedWorld(seed: UInt64(seeds.upperBound))
    again.run()
    #expect(zip(last, again.trace).first { $0 != $1 } == nil)
    #expect(last.count == again.trace.count)
    if one == nil { #expect(last.count > 1000, "the seed has enough trouble") }
  }

  @Test(arguments: DaemonFault.allCases) func aPlantedFaultIsCaught(_ fault: DaemonFault) throws {
    for seed in [fault.firstSeed] + Array(1...20) {
      let world = try SimulatedWorld(seed: UInt64(seed), fault: fault)
      world.run()
      guard let violation = world.book.violation else { continue }
      let trace = world.trace.suffix(20).joined(separator: "\n")
      #expect(
        fault.caughtBy.contains(violation.promise), "seed \(seed): \(violation.promise) \(violation.text)\n\(trace)")
      return
    }
    Issue.record("no seed catches \(fault)")
  }
}
