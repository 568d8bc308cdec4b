import Systemd

/// Follows a unit at its service manager: looks it up on each connection, and references it, so that the manager sends its
/// changes.
///
/// At most one call to the manager is open; a new call drops the answer to the previous one.
final class FollowedUnit {
  /// The timeout of a call to the manager, in microseconds: the default of sd-bus(3).
  static let patience: Int64 = 25_000_000

  let name: String
  let isOfMachine: Bool
  let bus: Bus
  private(set) var facts = UnitFacts()
  /// The object path of the unit; the common prefix of all units until the manager has sent it.
  private var path = UnitCalls.unitPath
  private var question: BusCall?
  private var restarts: BusListener?
  private var changes: BusListener?
  private var watch: BusWatch?
  /// Called when a manager is present, before the lookup of the unit; set once.
  var onConnected: () -> Void = {}
  /// Called after the lookup of the unit; set once.
  var onFound: () -> Void = {}
  /// Called when the unit has changed; set once.
  var onChanged: () -> Void = {}
  /// Called when no manager answers: before the first connection, after a loss, and after a failed lookup; set once.
  var onLost: () -> Void = {}

  init(_ name: String, isOfMachine: Bool, on loop: EventLoop) throws(SystemdError) {
    (self.name, self.isOfMachine) = (name, isOfMachine)
    bus = try Bus(isOfMachine ? .system : .user, on: loop)
  }

  /// Starts to follow the unit.
  func follow() {
    restarts = bus.listen(to: .ownerChanged(of: UnitCalls.service)) { [unowned self] values in
      // A manager that has re-executed itself does not report the changes that happened meanwhile.
      if values.count == 3, values[2].text?.isEmpty == false { connected() } else { onLost() }
    }
    watch = bus.watch { [unowned self] state in if state == .connected { connected() } else { onLost() } }
  }

  /// Calls the manager.
  func ask(_ method: BusMethod, then answer: @escaping (BusCall.Answer) -> Void) {
    question = bus.call(method, timeout: Self.patience, handler: answer)
  }

  /// Drops the answer to the open call.
  func dropQuestion() { question = nil }

  /// Reads all properties of the unit.
  func look(then next: @escaping () -> Void, failed: @escaping (BusError) -> Void) {
    ask(UnitCalls.properties(path)) { [unowned self] answer in
      switch answer {
      case .success(let values):
        facts.apply(values.first?.entries ?? [:])
        next()
      case .failure(let error) where error.isNobodyThere || bus.state != .connected: onLost()
      case .failure(let error): failed(error)
      }
    }
  }

  private func connected() {
    onConnected()
    question = bus.load(name, timeout: Self.patience) { [unowned self] found in
      guard let found else { return onLost() }
      path = found
      changes = bus.listen(to: .propertiesChanged(below: path, in: UnitCalls.service)) { [unowned self] in
        changed($0)
      }
      // The reference keeps the unit in memory and makes the manager send its changes.
      bus.send(UnitCalls.reference(path))
      onFound()
    }
  }

  private func changed(_ values: [BusValue]) {
    guard values.count == 3, let news = values[1].entries else { return }
    facts.apply(news)
    // systemd sends the properties of the service first and those of the unit last, so now all have arrived.
    if values[0].text == UnitCalls.unit { onChanged() }
  }
}

/// The properties of a service as its manager reports them (org.freedesktop.systemd1(5)).
struct UnitFacts: Hashable {
  /// The name of the unit itself; the order may have named an alias.
  private(set) var id = ""
  private(set) var loadState = ""
  /// The reason why the unit's file cannot be used.
  private(set) var loadError = ""
  private(set) var mayBeStarted = true
  private(set) var activeState = ""
  private(set) var subState = ""
  /// The freezer state of its processes: `running`, `freezing`, `frozen`, `thawing`.
  private(set) var freezer = "running"
  /// Whether a job starts or stops the unit, or waits to do so.
  private(set) var hasJob = false
  /// The id of the last run; empty before the first.
  private(set) var invocation = ""
  /// The time at which the unit last became active, in microseconds of the wall clock; 0 if it never did.
  private(set) var start: UInt64 = 0
  private(set) var result = "success"
  /// The end of the main process in the last run; nil if none has ended.
  private(set) var mainEnd: MainEnd?
  /// The unmet conditions of the unit's file, in the file's form.
  private(set) var unmetConditions: [String] = []
  /// The processor time in nanoseconds and the network bytes of the last run; nil if systemd does not count them.
  private(set) var cpu: UInt64?
  private(set) var bytes: UInt64?

  /// Applies the properties of a message.
  mutating func apply(_ properties: [String: BusValue]) {
    func set(_ name: String, _ property: inout String) { if let text = properties[name]?.text { property = text } }
    set("Id", &id)
    set("LoadState", &loadState)
    set("ActiveState", &activeState)
    set("SubState", &subState)
    set("Result", &result)
    set("FreezerState", &freezer)
    if let error = properties["LoadError"]?.elements, error.count == 2 { loadError = error[1].text ?? "" }
    mayBeStarted = properties["CanStart"]?.boolean ?? mayBeStarted
    if let job = properties["Job"]?.elements?.first?.integer { hasJob = job != 0 }
    if let id = properties["InvocationID"]?.bytes { invocation = Self.hexadecimal(id) }
    if let conditions = properties["Conditions"]?.elements {
      unmetConditions = conditions.compactMap(Self.unmetCondition)
    }
    if case .unsigned(let time)? = properties["InactiveExitTimestamp"] { start = time }
    if properties["ExecMainCode"] != nil { mainEnd = MainEnd(properties) }
    cpu = Self.counted(properties["CPUUsageNSec"]) ?? cpu
    let traffic = ["IPIngressBytes", "IPEgressBytes"].compactMap { Self.counted(properties[$0]) }
    // Each is at most half of the largest number, so that a sum of two cannot overflow.
    if !traffic.isEmpty { bytes = traffic.reduce(0) { $0 + min($1, .max / 2) } }
  }

  /// Whether the unit is between two runs.
  var isAtRest: Bool { (activeState == "inactive" || activeState == "failed") && !hasJob }

  /// Whether the unit counts as active after its processes have ended (`RemainAfterExit=yes`).
  var remainsAfterExit: Bool { activeState == "active" && subState == "exited" && !hasJob }

  private static func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  /// The value of a counter; nil for the largest number, which marks a counter that is off.
  private static func counted(_ value: BusValue?) -> UInt64? {
    guard case .unsigned(let number)? = value, number != .max else { return nil }
    return number
  }

  /// An unmet condition, such as `ConditionACPower=true`; nil if the condition was met or not checked.
  private static func unmetCondition(_ value: BusValue) -> String? {
    // The type, whether one of several suffices, whether it is negated, the parameter, and the result.
    guard let parts = value.elements, parts.count == 5, let name = parts[0].text, let parameter = parts[3].text,
      let state = parts[4].integer, state < 0
    else { return nil }
    return "\(name)=\(parts[2].boolean == true ? "!" : "")\(parameter)"
  }
}

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
