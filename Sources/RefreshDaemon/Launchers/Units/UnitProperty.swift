import Systemd

/// A property of a transient unit, such as `MemoryMax` (org.freedesktop.systemd1(5)).
struct UnitProperty: Hashable, Sendable {
  /// The name on the bus, which ends in `USec` for times.
  let name: String
  /// The value, of the exact type that the manager expects.
  let value: BusArgument

  init(_ name: String, _ value: BusArgument) {
    self.name = name
    self.value = value
  }

  var argument: BusArgument { .structure([.string(name), .variant(value)]) }
}
