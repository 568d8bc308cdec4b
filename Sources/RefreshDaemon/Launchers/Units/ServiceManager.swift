import Glibc
import RefreshEngine
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

  /// The states of a service whose main process has not ended; a service is also "dead" before its start.
  static let beforeEnd: Set = ["start-pre", "start", "running"]

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

/// The names of the units of a daemon's tasks, by which the next daemon finds them.
///
/// `refreshd-task-12-345-0.service` is task 0 of refresh 12-345. It is in the slice of its app, below `refreshd.slice`.
/// If the daemon has a custom state directory, the names contain its hash, so that two daemons of one manager do not
/// collide.
struct UnitNames: Hashable, Sendable {
  /// The pattern for `ListUnitsByPatterns` that matches the units of all daemons.
  static let pattern = "\(start)*\(end)"

  /// The slice of all apps.
  static let slice = "refreshd.slice"

  private static let start = "refreshd-task-"
  private static let end = ".service"
  /// The maximum length of a unit's name (`UNIT_NAME_MAX` of systemd).
  private static let longest = 255
  private let own: String

  /// The names for a daemon with this state directory.
  init(stateDirectory: String, isStandard: Bool) {
    own = isStandard ? "" : String(StableHash.of(stateDirectory), radix: 16).prefix(8) + "-"
  }

  func unit(of key: ProcessKey) -> String { Self.start + own + key.description + Self.end }

  /// The task of a unit; nil if the unit does not belong to this daemon.
  func key(ofUnit name: String) -> ProcessKey? {
    guard name.hasPrefix(Self.start + own), name.hasSuffix(Self.end) else { return nil }
    return ProcessKey(name.dropFirst(Self.start.utf8.count + own.utf8.count).dropLast(Self.end.utf8.count))
  }

  /// The slice of an app (systemd.slice(5)): `refreshd-org.example.todo.slice`.
  ///
  /// A dash would start a nested slice, so it is escaped as systemd-escape(1) does. An id that is too long for a name
  /// is replaced by its hash.
  static func slice(of app: AppID) -> String {
    let name =
      "refreshd-\(app.description.split(separator: "-", omittingEmptySubsequences: false).joined(separator: "\\x2d")).slice"
    return name.utf8.count <= longest ? name : "refreshd-\(String(StableHash.of(app.description), radix: 16)).slice"
  }

  /// Whether the name has the form of a task's unit, of any daemon.
  static func isUnit(_ name: Substring) -> Bool { name.hasPrefix(start) && name.hasSuffix(end) }

  /// The app of a slice; nil if the slice has no app or only the hash of its name.
  static func app(ofSlice name: Substring) -> AppID? {
    guard name.hasPrefix("refreshd-"), name.hasSuffix(".slice") else { return nil }
    return AppID(unescaped(name.dropFirst("refreshd-".count).dropLast(".slice".count)))
  }

  /// A part of a unit's name whose dashes were escaped.
  static func unescaped(_ name: Substring) -> String {
    var rest = name
    var text = ""
    while let backslash = rest.firstIndex(of: "\\") {
      text += rest[..<backslash]
      rest = rest[backslash...]
      let isDash = rest.hasPrefix("\\x2d")
      text += isDash ? "-" : "\\"
      rest = rest.dropFirst(isDash ? 4 : 1)
    }
    return text + rest
  }

  /// The path of a unit's cgroup below its manager's cgroup.
  func cgroup(of key: ProcessKey, app: AppID) -> String { "refreshd.slice/\(Self.slice(of: app))/\(unit(of: key))" }
}

extension ProcessKey {
  /// Reads the form that `description` writes, `12-345-0`; nil for any other text.
  init?(_ text: some StringProtocol) {
    guard let dash = text.lastIndex(of: "-"), let run = RunID(String(text[..<dash])),
      let task = Int(text[text.index(after: dash)...]), task >= 0
    else { return nil }
    self.init(run: run, task: task)
    if description != text { return nil }
  }
}

/// A queue of calls to a service manager that limits how many are sent at once.
///
/// dbus-daemon(1) refuses calls of a connection that waits for 128 replies (`max_replies_per_connection`), which would
/// happen when two hundred tasks start together. Thread-confined, as the bus is.
final class CallQueue {
  /// The most calls in flight: far below the limit of the bus, because the connection has other calls too.
  private static let bound = 32

  /// Sends the call and returns it; nil if there is nothing to call any more.
  typealias Send = (_ reply: @escaping (BusCall.Answer) -> Void) -> AnyObject?

  /// A call that waits for its turn or its reply; releasing it drops the call or ignores the reply.
  final class QueuedCall {
    fileprivate let send: Send
    fileprivate let reply: (BusCall.Answer) -> Void
    fileprivate(set) var isAnswered = false

    fileprivate init(_ send: @escaping Send, _ reply: @escaping (BusCall.Answer) -> Void) {
      (self.send, self.reply) = (send, reply)
    }
  }

  private var waiting: [() -> QueuedCall?] = []
  /// Kept until the reply comes, also for a released request, because the bus counts those calls as well.
  private var inFlight: [Int: AnyObject] = [:]
  private var count = 0

  /// Adds a call and sends it at once if fewer than the limit are in flight.
  func add(_ send: @escaping Send, answer reply: @escaping (BusCall.Answer) -> Void) -> QueuedCall {
    let request = QueuedCall(send, reply)
    waiting.append { [weak request] in request }
    sendNext()
    return request
  }

  private func sendNext() {
    while inFlight.count < Self.bound, !waiting.isEmpty {
      if let request = waiting.removeFirst()() { start(request) }
    }
  }

  private func start(_ request: QueuedCall) {
    count += 1
    let number = count
    let call = request.send { [unowned self, weak request] answer in
      // A call that cannot be sent is answered before `send` returns.
      let wasInFlight = inFlight.removeValue(forKey: number) != nil
      request?.isAnswered = true
      request?.reply(answer)
      if wasInFlight { sendNext() }
    }
    guard let call else { return request.isAnswered = true }
    if !request.isAnswered { inFlight[number] = call }
  }
}

/// Why the daemon is asked to stop, as its service manager knows it.
enum StopOccasion: Hashable, Sendable {
  /// It will stay away.
  case stop
  /// It will start again in a moment.
  case restart
  /// The machine, or the user's session, ends.
  case shutdown
}

extension Launcher {
  func findOccasion(answer: @escaping (StopOccasion) -> Void) { answer(.stop) }
}

/// Asks a service manager why it stops the daemon.
final class StopQuestion {
  private let bus: Bus
  private let answer: (StopOccasion) -> Void
  private var call: BusCall?

  /// Asks; an answer that does not come in time counts as ``StopOccasion/stop``.
  init(_ bus: Bus, answer: @escaping (StopOccasion) -> Void) {
    (self.bus, self.answer) = (bus, answer)
    ask(ServiceManager.get("SystemState"), then: StopQuestion.findUnit)
  }

  private func findUnit(inState state: BusValue?) {
    if state?.text == "stopping" { return answer(.shutdown) }
    ask(ServiceManager.call("GetUnitByPID", .uint32(UInt32(getpid()))), then: StopQuestion.findJob)
  }

  private func findJob(ofUnit unit: BusValue?) {
    guard let path = unit?.text else { return answer(.stop) }
    ask(.get("Job", of: ServiceManager.unit, at: path, in: ServiceManager.name), then: StopQuestion.findType)
  }

  private func findType(ofJob job: BusValue?) {
    guard let job = job?.elements, job.count == 2, job[0].integer != 0, let path = job[1].text else {
      return answer(.stop)
    }
    ask(
      .get("JobType", of: "org.freedesktop.systemd1.Job", at: path, in: ServiceManager.name),
      then: StopQuestion.conclude)
  }

  private func conclude(fromType type: BusValue?) { answer(type?.text == "restart" ? .restart : .stop) }

  /// Calls a method; `next` gets the value, or nil if the call fails.
  private func ask(_ method: BusMethod, then next: @escaping (StopQuestion) -> (BusValue?) -> Void) {
    call = bus.call(method) { [unowned self] result in
      if case .success(let values) = result { next(self)(values.first) } else { next(self)(nil) }
    }
  }
}
