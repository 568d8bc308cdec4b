import Foundation
import Testing

/// The real daemon for days of virtual time, with a disk, processes and a machine that fail.
///
/// `REFRESH_DAEMON_SEEDS=1000` runs so many seeds, and `REFRESH_DAEMON_SEED=17` that one, with its trace.
@Suite struct DaemonSimulationTests {
  private static func number(_ name: String) -> Int? { ProcessInfo.processInfo.environment[name].flatMap(Int.init) }

  @Test func theDaemonKeepsItsPromises() throws {
    let one = Self.number("REFRESH_DAEMON_SEED")
    for seed in one.map({ $0...$0 }) ?? 1...(Self.number("REFRESH_DAEMON_SEEDS") ?? 3) {
      let world = try SimulatedWorld(seed: UInt64(seed))
      world.run()
      if let violation = world.book.violation {
        let trace = world.trace.suffix(60).joined(separator: "\n")
        Issue.record("seed \(seed) breaks \(violation.promise): \(violation.text)\n\(trace)")
      }
      if one != nil { print(world.trace.joined(separator: "\n")) }
    }
  }

  @Test func aSeedHasOneTrace() throws {
    let worlds = try (0..<2).map { _ in try SimulatedWorld(seed: 3) }
    for world in worlds { world.run() }
    let difference = zip(worlds[0].trace, worlds[1].trace).first { $0 != $1 }
    #expect(difference == nil)
    #expect(worlds[0].trace.count == worlds[1].trace.count)
    #expect(worlds[0].trace.count > 1000, "the seed has enough trouble")
  }

  @Test(arguments: DaemonFault.allCases) func aPlantedFaultIsCaught(_ fault: DaemonFault) throws {
    for seed in 1...20 {
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
