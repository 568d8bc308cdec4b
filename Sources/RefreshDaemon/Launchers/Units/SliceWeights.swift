import RefreshEngine
import Systemd

/// The weights of the launcher's slices.
///
/// A weight counts among the neighbours in the tree of cgroups only (cgroups(7)), so the weight of a task alone would say
/// nothing to the programs of the user. A slice whose tasks all give way has the low weight as a whole, up to
/// `refreshd.slice`, and the usual weight as soon as somebody waits for one of them.
struct SliceWeights {
  /// The weights of tasks that give way, and of all others (systemd.resource-control(5), `CPUWeight=`).
  static let low: UInt64 = 20
  private static let usual: UInt64 = 100

  /// Whether a slice was given the low weight or the usual one; the weight that a previous daemon gave is not known.
  private var isLowered: [String: Bool] = [:]

  /// The properties of a task or a slice that gives way.
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
