import Systemd

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
