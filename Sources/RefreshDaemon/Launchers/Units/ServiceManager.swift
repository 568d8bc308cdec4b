import Glibc
import Systemd

/// The methods of a service manager on the bus (org.freedesktop.systemd1(5)).
enum ServiceManager {
  static let name = "org.freedesktop.systemd1"
  static let path = "/org/freedesktop/systemd1"
  static let unitPath = "/org/freedesktop/systemd1/unit"
  static let manager = "org.freedesktop.systemd1.Manager"
  static let unit = "org.freedesktop.systemd1.Unit"
  static let service = "org.freedesktop.systemd1.Service"

  /// The empty name selects all interfaces of an object, for its properties.
  static let everything = ""

  /// The processes of a unit that a signal is for.
  enum Target: String {
    case main
    case all
  }

  /// A method of the manager.
  static func call(_ method: String, _ arguments: BusArgument...) -> BusMethod {
    BusMethod(name, path: path, interface: manager, name: method, arguments: arguments)
  }

  /// Starts a transient unit, which is in no file.
  static func start(_ unit: String, _ properties: [UnitProperty]) -> BusMethod {
    call(
      "StartTransientUnit", .string(unit), .string("fail"), .array(of: "(sv)", properties.map(\.argument)),
      .array(of: "(sa(sv))", []))
  }

  static func kill(_ unit: String, _ target: Target, _ signal: Int32) -> BusMethod {
    call("KillUnit", .string(unit), .string(target.rawValue), .int32(signal))
  }

  /// Sets properties of a unit until the machine stops.
  static func set(_ properties: [UnitProperty], of unit: String) -> BusMethod {
    call("SetUnitProperties", .string(unit), .boolean(true), .array(of: "(sv)", properties.map(\.argument)))
  }

  static func stop(_ unit: String) -> BusMethod { call("StopUnit", .string(unit), .string("replace")) }

  static func resetFailed(_ unit: String) -> BusMethod { call("ResetFailedUnit", .string(unit)) }

  /// Kills, stops and resets a unit.
  ///
  /// A unit that fails only later, by this signal, must be reset again.
  static func end(_ unit: String) -> [BusMethod] { [kill(unit, .all, SIGKILL), stop(unit), resetFailed(unit)] }

  /// Makes the manager keep a unit in memory and send us its changes while our connection lasts.
  static func ref(_ unit: String) -> BusMethod { call("RefUnit", .string(unit)) }

  static func unref(_ unit: String) -> BusMethod { call("UnrefUnit", .string(unit)) }

  /// Lists the task units of all daemons.
  static var listTasks: BusMethod {
    call("ListUnitsByPatterns", .strings([]), .strings([UnitNames.pattern]))
  }

  /// The states of a service whose main process has not ended.
  static let beforeEnd: Set = ["dead", "start-pre", "start", "running"]

  /// Reads the state of a service in the manager's own words.
  static func subState(at path: String) -> BusMethod {
    .get("SubState", of: unit, at: path, in: name)
  }

  /// Reads a property of the manager.
  static func get(_ property: String) -> BusMethod { .get(property, of: manager, at: path, in: name) }
}

/// A unit in the manager's list.
struct ListedUnit {
  let name: String
  /// The state, as in `systemctl show --property=ActiveState`.
  let activeState: String
  /// Whether a job is pending: the unit is being started or stopped.
  let hasJob: Bool

  /// Reads a reply to ``ServiceManager/listTasks``.
  static func list(in answer: [BusValue]) -> [ListedUnit] {
    (answer.first?.elements ?? []).compactMap { row in
      guard let row = row.elements, row.count == 10, let name = row[0].text, let state = row[3].text else { return nil }
      return ListedUnit(name: name, activeState: state, hasJob: row[7].integer != 0)
    }
  }
}
