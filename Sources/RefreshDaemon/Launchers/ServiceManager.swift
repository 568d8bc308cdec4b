import Glibc
import Systemd

/// What is called at a service manager on the bus (org.freedesktop.systemd1(5)).
enum ServiceManager {
  static let name = "org.freedesktop.systemd1"
  static let path = "/org/freedesktop/systemd1"
  static let unitPath = "/org/freedesktop/systemd1/unit"
  static let manager = "org.freedesktop.systemd1.Manager"
  static let unit = "org.freedesktop.systemd1.Unit"
  static let service = "org.freedesktop.systemd1.Service"

  /// All interfaces of an object, for a question about its properties.
  static let everything = ""

  /// Which of a unit's processes a signal is for.
  enum Whom: String {
    case main
    case all
  }

  /// A method of the manager itself.
  static func call(_ method: String, _ arguments: BusArgument...) -> BusMethod {
    BusMethod(name, path: path, interface: manager, name: method, arguments: arguments)
  }

  /// Makes a unit that is in no file, and starts it.
  static func start(_ unit: String, _ properties: [UnitProperty]) -> BusMethod {
    call(
      "StartTransientUnit", .string(unit), .string("fail"), .array(of: "(sv)", properties.map(\.argument)),
      .array(of: "(sa(sv))", []))
  }

  static func kill(_ unit: String, _ whom: Whom, _ signal: Int32) -> BusMethod {
    call("KillUnit", .string(unit), .string(whom.rawValue), .int32(signal))
  }

  static func stop(_ unit: String) -> BusMethod { call("StopUnit", .string(unit), .string("replace")) }

  static func resetFailed(_ unit: String) -> BusMethod { call("ResetFailedUnit", .string(unit)) }

  /// What ends a unit at once, whatever it is doing, and has it forgotten unless it fails of that only later.
  static func end(_ unit: String) -> [BusMethod] { [kill(unit, .all, SIGKILL), stop(unit), resetFailed(unit)] }

  /// Has the manager keep a unit in memory and tell us of its changes, for as long as our connection is there.
  static func ref(_ unit: String) -> BusMethod { call("RefUnit", .string(unit)) }

  static func unref(_ unit: String) -> BusMethod { call("UnrefUnit", .string(unit)) }

  /// Asks for the units of tasks, all daemons'.
  static var listTasks: BusMethod {
    call("ListUnitsByPatterns", .strings([]), .strings([UnitNames.pattern]))
  }

  /// Asks the manager for one of its own properties.
  static func get(_ property: String) -> BusMethod { .get(property, of: manager, at: path, in: name) }
}

/// A property of a unit that is made for a task, such as `MemoryMax` (org.freedesktop.systemd1(5)).
struct UnitProperty: Hashable, Sendable {
  /// The name on the bus, which for times ends in `USec`.
  let name: String
  /// The value, of the very type that the manager has for it.
  let value: BusArgument

  init(_ name: String, _ value: BusArgument) {
    self.name = name
    self.value = value
  }

  fileprivate var argument: BusArgument { .structure([.string(name), .variant(value)]) }
}

/// A unit in the manager's list.
struct ListedUnit {
  let name: String
  /// As in `systemctl show --property=ActiveState`.
  let activeState: String
  /// Whether something is yet to be done to it: it is being started or stopped.
  let hasJob: Bool

  /// Reads an answer to ``ServiceManager/listTasks``.
  static func list(in answer: [BusValue]) -> [ListedUnit] {
    (answer.first?.elements ?? []).compactMap { row in
      guard let row = row.elements, row.count == 10, let name = row[0].text, let state = row[3].text else { return nil }
      return ListedUnit(name: name, activeState: state, hasJob: row[7].integer != 0)
    }
  }
}
