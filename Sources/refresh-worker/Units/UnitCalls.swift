import Systemd

/// The calls to a service manager for a task of the kind `unit` (org.freedesktop.systemd1(5)).
enum UnitCalls {
  static let service = "org.freedesktop.systemd1"
  static let unitPath = "/org/freedesktop/systemd1/unit"
  static let unit = "org.freedesktop.systemd1.Unit"
  private static let path = "/org/freedesktop/systemd1"
  private static let manager = "org.freedesktop.systemd1.Manager"

  /// The end of a job: its number, its path, its unit and its result.
  static let jobRemoved = BusSignal(service, path: path, interface: manager, name: "JobRemoved")

  fileprivate static func load(_ unit: String) -> BusMethod { call("LoadUnit", unit) }

  /// Loads the unit at a path, and keeps it in memory while the connection lasts.
  static func reference(_ path: String) -> BusMethod {
    BusMethod(service, path: path, interface: unit, name: "Ref")
  }

  /// Reads the properties of all interfaces.
  static func properties(_ path: String) -> BusMethod { .getAll(of: "", at: path, in: service) }

  /// Makes the manager send the changes of units, including units that it does not know yet.
  static let subscribe = call("Subscribe")

  /// Reads the start time of the manager.
  static let managerStart = BusMethod.get("UserspaceTimestampMonotonic", of: manager, at: path, in: service)

  static func freeze(_ unit: String) -> BusMethod { call("FreezeUnit", unit) }

  static func thaw(_ unit: String) -> BusMethod { call("ThawUnit", unit) }

  static func start(_ unit: String) -> BusMethod { call("StartUnit", unit, "replace") }

  static func stop(_ unit: String) -> BusMethod { call("StopUnit", unit, "replace") }

  private static func call(_ name: String, _ arguments: String...) -> BusMethod {
    BusMethod(service, path: path, interface: manager, name: name, arguments: arguments.map { .string($0) })
  }
}

extension Bus {
  /// Loads a unit and passes its path to `found`; passes nil if no manager answers.
  ///
  /// For an alias, the path is that of the unit itself, because its changes come from there.
  func load(_ unit: String, timeout: Int64, found: @escaping (String?) -> Void) -> BusCall {
    call(UnitCalls.load(unit), timeout: timeout) { [unowned self] answer in
      switch answer {
      case .success(let values): found(values.first?.text ?? UnitCalls.unitPath)
      case .failure(let error) where error.isNobodyThere || state != .connected: found(nil)
      // The read of the unit's properties will report the error.
      case .failure: found(BusPath.encoded(unit, below: UnitCalls.unitPath) ?? UnitCalls.unitPath)
      }
    }
  }
}
