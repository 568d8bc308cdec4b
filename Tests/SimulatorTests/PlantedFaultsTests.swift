import RefreshEngine
import Simulator
import Testing

/// Each check can fail: for each there is a mistake, made on purpose, that it finds.
@Suite struct PlantedFaultsTests {
  @Test(arguments: plantedFaults) func `The check finds the fault`(planted: Planted) {
    for seed in [planted.seed] + Array(1...150) {
      let checks = Invariants.all().filter { String(describing: type(of: $0)) == planted.check }
      var world = World(
        seed: seed, apps: planted.apps, isPlanned: planted.isPlanned, mayHang: planted.mayHang, fault: planted.fault,
        checks: checks)
      world.run(for: .hours(24 * 2))
      if world.violations.contains(where: { $0.check == planted.check }) { return }
    }
    Issue.record("\(planted.check) does not see a daemon that \(planted.fault.name)")
  }

  @Test func `Every check has a fault that it finds`() {
    let checks = Set(Invariants.all().map { String(describing: type(of: $0)) })
    #expect(Set(plantedFaults.map(\.check)) == checks.union(["TimeGoesOn"]))
  }
}

/// A fault and the check that has to find it.
struct Planted: Sendable, CustomTestStringConvertible {
  var check: String
  var fault: PlantedFault
  /// A seed that finds it, which is tried first; if decisions change, another one finds it.
  var seed: UInt64
  var apps: Int?
  var isPlanned: Bool?
  var mayHang: Bool?

  init(
    _ check: String, _ name: String, seed: UInt64 = 1, apps: Int? = nil, isPlanned: Bool? = nil,
    mayHang: Bool? = nil, plant: (inout PlantedFault) -> Void
  ) {
    self.check = check
    self.seed = seed
    self.apps = apps
    self.isPlanned = isPlanned
    self.mayHang = mayHang
    fault = PlantedFault(name)
    plant(&fault)
  }

  var testDescription: String { "\(check): \(fault.name)" }
}
