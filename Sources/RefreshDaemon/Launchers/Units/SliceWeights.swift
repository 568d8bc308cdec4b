import RefreshEngine
import Systemd

/// The weights of the launcher's slices.
///
/// A weight counts only among siblings in the tree of cgroups (cgroups(7)), so a task's own weight would not matter to the
/// user's programs. A slice whose tasks all give way has the low weight as a whole, up to `refreshd.slice`. It has the
/// usual weight as soon as somebody waits for one of its tasks.
struct SliceWeights {
  /// The weights of tasks that give way, and of all others (systemd.resource-control(5), `CPUWeight=`).
  static let low: UInt64 = 20
  private static let usual: UInt64 = 100

  /// Whether a slice has the low weight; no entry if only a previous daemon has set its weight.
  private var isLowered: [String: Bool] = [:]

  /// The properties of a task or a slice with low weight.
  static func properties(isUserManager: Bool, weight: UInt64 = low) -> [UnitProperty] {
    let names = isUserManager ? ["CPUWeight"] : ["CPUWeight", "IOWeight"]
    return names.map { UnitProperty($0, .uint64(weight)) }
  }

  /// The calls that give the slices the weights that these tasks need; none for a slice without any.
  mutating func update(_ tasks: some Sequence<SystemdTask>, isUserManager: Bool) -> [BusMethod] {
    var givesWay: [String: Bool] = [:]
    for task in tasks where !task.isReported {
      for slice in [UnitNames.slice, UnitNames.slice(of: task.app)] {
        givesWay[slice] = (givesWay[slice] ?? true) && task.launch?.givesWay == true
      }
    }
    var calls: [BusMethod] = []
    for (slice, isLow) in givesWay.sorted(by: { $0.key < $1.key }) where isLowered[slice] != isLow {
      isLowered[slice] = isLow
      let properties = Self.properties(isUserManager: isUserManager, weight: isLow ? Self.low : Self.usual)
      calls.append(ServiceManager.set(properties, of: slice))
    }
    return calls
  }
}
