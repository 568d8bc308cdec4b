import Glibc
import RefreshAPI
import Systemd
import Varlink

/// `refresh-worker keep`: keeps a guard's unit from running until the daemon ends the process, and then returns the unit.
enum KeepTask {
  /// Runs the task and returns the exit code: 0 when the unit is returned.
  ///
  /// A line on standard output says why the unit could not be returned.
  static func run() -> Int32 {
    if let failure = Confinement.enter() {
      print(failure.message)
      return EX_OSERR
    }
    guard let order = TaskContext.order(as: Wire.KeepOrder.self) else { return EX_USAGE }
    do {
      let keeper = try UnitKeeper(order, TaskLink())
      switch try keeper.run() {
      case .returned(let trouble):
        if let trouble { print(trouble) }
        return 0
      case .failed(let reason):
        print(reason)
        return EX_TEMPFAIL
      }
    } catch {
      print("\(error)")
      return EX_TEMPFAIL
    }
  }
}

/// Keeps a service from running: stops or freezes it whenever it runs, and returns it when the daemon ends the process.
///
/// The daemon saves that the unit is kept before the keeper touches it. If the daemon ends and no other daemon follows, the
/// keeper returns the unit, so that nothing stays frozen.
private final class UnitKeeper {
  /// The result of a keeper.
  enum End {
    /// Nothing is kept any longer; `trouble` is the reason if the unit could not be returned.
    case returned(trouble: String?)
    /// The service manager does not answer or does not thaw the unit, which must still be returned.
    case failed(String)
  }

  /// The longest absence of the daemon, in microseconds: a crashed daemon returns within seconds and ends this process.
  private static let longestDaemonAbsence: Int64 = 30_000_000
  /// The longest absence of the service manager while the unit must be returned, in microseconds.
  private static let longestAbsence: Int64 = 10_000_000
  /// The pause before a refused return is retried, unless the unit changes earlier, in microseconds.
  private static let retry: Int64 = 1_000_000

  private let order: Wire.KeepOrder
  private let link: TaskLink
  private let loop: EventLoop
  private let unit: FollowedUnit
  /// Whether the unit must be returned, as the daemon has saved.
  private var isKept: Bool
  private var isReturning: Bool
  /// Whether a stop by this keeper may still wait among the manager's jobs.
  private var isStopping = false
  /// The reason why the last return failed.
  private var refusal: String?
  private var pace = KeeperPace()
  /// The start time of the manager; another manager does not know the stopped units.
  private var manager: UInt64?
  private var lastReport = ""
  private var end: End?
  private var action: BusCall?
  private var again: TimerSource?
  private var bound: TimerSource?
  private var signal: SignalSource?
  private var hangup: IOSource?

  init(_ order: Wire.KeepOrder, _ link: TaskLink) throws(SystemdError) {
    (self.order, self.link, isKept, isReturning) = (order, link, order.isKept, order.givesBack)
    loop = try EventLoop()
    unit = try FollowedUnit(order.unit, isOfMachine: order.manager == .system, on: loop)
  }

  private var bus: Bus { unit.bus }
  private var facts: UnitFacts { unit.facts }

  /// Keeps the unit until the end.
  func run() throws(SystemdError) -> End {
    again = try loop.timer { [unowned self] in look() }
    bound = try loop.timer { [unowned self] in boundPassed() }
    signal = try loop.onSignal(SIGTERM) { [unowned self] in giveBack() }
    hangup = try loop.watch(link.descriptor, for: .readable) { [unowned self] _ in daemonIsGone() }
    if isReturning { arm(bound, after: Self.longestAbsence) }
    unit.onConnected = { [unowned self] in bus.send(UnitCalls.subscribe) }
    unit.onFound = { [unowned self] in found() }
    unit.onChanged = { [unowned self] in act() }
    unit.onLost = { [unowned self] in lost() }
    unit.follow()
    _ = try loop.run()
    return end ?? .returned(trouble: nil)
  }

  // MARK: Manager

  private func found() {
    unit.ask(UnitCalls.managerStart) { [unowned self] answer in
      if case .success(let values) = answer, case .unsigned(let start)? = values.first {
        // A new manager has started the units that should run.
        if let manager, manager != start { isKept = false }
        manager = start
      }
      look()
    }
  }

  private func lost() {
    unit.dropQuestion()
    action = nil
    guard bus.state != .connecting else { return }
    // A user without a session has no manager; its next start starts the units that should run.
    if isReturning, !unit.isOfMachine { return finish(.returned(trouble: nil)) }
    if isReturning { arm(bound, after: Self.longestAbsence) }
    report("no service manager")
  }

  private func boundPassed() {
    if isReturning { return finish(.failed(refusal ?? "no service manager has answered for \(order.unit)")) }
    giveBack()
  }

  /// Reads all properties of the unit, and acts on them.
  private func look() {
    guard bus.state == .connected else { return }
    unit.look { [unowned self] in
      act()
    } failed: { [unowned self] error in
      if isReturning { return finish(.failed("cannot look at \(order.unit): \(error)")) }
      report("cannot look at it: \(error)")
    }
  }

  // MARK: Keep

  private func act() {
    guard action == nil, end == nil else { return }
    if isReturning { return returnUnit() }
    if !facts.hasJob || !facts.runs { isStopping = false }
    switch order.means {
    case .stop where isStopping: break
    case .stop where facts.runs: keep("stopping", UnitCalls.stop(order.unit), "cannot stop it")
    case .freeze where facts.isFreezable:
      keep("freezing", UnitCalls.freeze(order.unit), "cannot freeze it")
    case .freeze where facts.isAtRest && isKept:
      // Someone has stopped the frozen unit, and it stays stopped.
      isKept = false
      report(facts.restText(isKept: false))
    case .freeze where facts.freezer == "frozen": report("frozen")
    case .freeze where facts.activeState == "activating": report("starting, and frozen after that")
    case .stop, .freeze: if facts.isAtRest { report(facts.restText(isKept: isKept)) }
    }
  }

  /// Makes the daemon save that the unit is kept, and then stops or freezes it.
  private func keep(_ text: String, _ method: BusMethod, _ failure: String) {
    let now = EventLoop.bootMicroseconds()
    if let wait = pace.wait(at: now) {
      report("something else keeps starting it; it is stopped again in \(wait / 1_000_000) s")
      again?.arm(at: now + wait, accuracy: 100_000)
      return
    }
    pace.countStop(at: now)
    let wasKept = isKept
    isKept = true
    guard report(text) else { return isKept = wasKept }
    action = bus.call(method, timeout: FollowedUnit.patience) { [unowned self] answer in
      action = nil
      if case .failure(let error) = answer, bus.state == .connected, !error.isWithoutAnswer {
        isKept = wasKept
        if error.isNobodyThere { lost() } else { report("\(failure): \(error)") }
        return
      }
      // A call without a reply may take effect later, so the unit must be returned in any case.
      isStopping = order.means == .stop
      look()
    }
  }

  /// Reports the state to the daemon; returns false if there is no daemon.
  @discardableResult private func report(_ text: String) -> Bool {
    guard !isReturning, hangup != nil else { return false }
    guard text != lastReport else { return true }
    lastReport = text
    do throws(ClientError) {
      try link.keep(isKept: isKept, text)
      return true
    } catch {
      daemonIsGone()
      return false
    }
  }

  private func daemonIsGone() {
    guard hangup != nil else { return }
    hangup?.cancel()
    hangup = nil
    if !isReturning { arm(bound, after: Self.longestDaemonAbsence) }
  }

  // MARK: Return

  private func giveBack() {
    guard !isReturning else { return }
    isReturning = true
    unit.dropQuestion()
    action = nil
    arm(bound, after: Self.longestAbsence)
    if bus.state == .connected { look() } else { lost() }
  }

  private func returnUnit() {
    guard isKept else { return finish(.returned(trouble: nil)) }
    if facts.freezer == "frozen" || facts.freezer == "freezing" {
      return finish(by: UnitCalls.thaw(order.unit), "thaw")
    }
    guard order.means == .stop else { return finish(.returned(trouble: nil)) }
    // Start the unit even if it runs: the start replaces a stop that still waits.
    finish(by: UnitCalls.start(order.unit), "start")
  }

  private func finish(by method: BusMethod, _ verb: String) {
    action = bus.call(method, timeout: FollowedUnit.patience) { [unowned self] answer in
      action = nil
      guard case .failure(let error) = answer else { return finish(.returned(trouble: nil)) }
      guard bus.state == .connected, !error.isNobodyThere else { return lost() }
      let trouble = "cannot \(verb) \(order.unit) again: \(error)"
      guard error.isWithoutAnswer || verb == "thaw" else { return finish(.returned(trouble: trouble)) }
      // A job of the unit, for example, makes systemd refuse a thaw until it ends.
      refusal = trouble
      arm(again, after: Self.retry)
    }
  }

  private func finish(_ end: End) {
    self.end = end
    loop.exit(0)
  }

  private func arm(_ timer: TimerSource?, after span: Int64) {
    timer?.arm(at: EventLoop.bootMicroseconds() + span, accuracy: 100_000)
  }
}

extension UnitFacts {
  /// Whether the service runs or starts, or waits for its own restart.
  fileprivate var runs: Bool { ["active", "activating", "reloading", "refreshing"].contains(activeState) }

  /// Whether the manager can freeze the unit now: it refuses units that are being started or stopped.
  fileprivate var isFreezable: Bool { activeState == "active" && !hasJob && freezer == "running" }

  /// The state of a unit that does not run, for a person.
  fileprivate func restText(isKept: Bool) -> String {
    switch loadState {
    case "masked": "masked"
    case "not-found": "not installed"
    case "loaded", "": isKept ? "stopped" : "not running"
    default: "its file has mistakes"
    }
  }
}

/// Limits how often a unit is stopped that another program starts repeatedly.
struct KeeperPace {
  private static let span: Int64 = 60_000_000
  private static let most = 5

  /// The times of the last stops, in microseconds of the boot clock, at most ``most``.
  private var times: [Int64] = []

  /// The wait before the next stop, in microseconds; nil if the unit may be stopped now.
  func wait(at now: Int64) -> Int64? {
    guard times.count == Self.most, let first = times.first, now < first + Self.span else { return nil }
    return first + Self.span - now
  }

  /// Counts a stop of the unit.
  mutating func countStop(at now: Int64) { times = (times + [now]).suffix(Self.most) }
}

/// A keeper's connection to the daemon, open as long as the daemon lives.
private struct TaskLink {
  private let client: Client
  private let token: String

  /// Connects with the token from the environment.
  init() throws(ClientError) {
    func variable(_ name: String) -> String { getenv(name).map { String(cString: $0) } ?? "" }
    (client, token) = (try Client(path: variable("REFRESH_SOCKET")), variable("REFRESH_TOKEN"))
  }

  /// The socket, which is readable when the daemon has ended.
  var descriptor: Int32 { client.descriptor }

  /// Reports the state of the unit, and returns when the daemon has saved it.
  func keep(isKept: Bool, _ text: String) throws(ClientError) {
    _ = try client.call(WorkerInterface.Keep.self, .init(token: token, isKept: isKept, text: text))
  }
}
