import Glibc
import RefreshAPI
import Systemd
import Varlink

/// Keeps a service from running: stops or freezes it whenever it runs, and returns it when it is asked to end.
///
/// The daemon saves that the unit is kept before anything is done to it. When the daemon goes away and none takes its
/// place, the unit is returned: nothing stays frozen because refreshd is gone.
final class UnitKeeper {
  /// How a keeper ends.
  enum End {
    /// Nothing is kept any more; the trouble with the return, if there was any.
    case returned(trouble: String?)
    /// The service manager cannot be reached, or does not thaw the unit: it is still to be returned.
    case failed(String)
  }

  /// How long the daemon may be away, in microseconds: a crashed one is back within seconds, and ends this process.
  private static let longestDaemonAbsence: Int64 = 30_000_000
  /// How long the service manager may be away while the unit is to be returned, in microseconds.
  private static let longestAbsence: Int64 = 10_000_000
  /// How long after a refused return the next try is, unless the unit changes before, in microseconds.
  private static let retry: Int64 = 1_000_000

  private let order: Wire.KeepOrder
  private let link: TaskLink
  private let loop: EventLoop
  private let unit: FollowedUnit
  /// Whether the unit is to be returned, as the daemon has saved.
  private var isKept: Bool
  private var isReturning: Bool
  /// Whether a stop by this keeper may still wait for its turn among the manager's jobs.
  private var isStopping = false
  /// Why the unit was not returned at the last try.
  private var refusal: String?
  private var pace = KeeperPace()
  /// When the manager started; another one knows nothing of what was stopped.
  private var manager: UInt64?
  private var report = ""
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
        // Another manager has started the units that it is to run.
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
    // A user without a session has no manager: it starts anew what it is to run.
    if isReturning, !unit.isOfMachine { return finish(.returned(trouble: nil)) }
    if isReturning { arm(bound, after: Self.longestAbsence) }
    tell("no service manager")
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
      tell("cannot look at it: \(error)")
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
      // Somebody has stopped the frozen unit, and so it stays.
      isKept = false
      tell(facts.restText(isKept: false))
    case .freeze where facts.freezer == "frozen": tell("frozen")
    case .freeze where facts.activeState == "activating": tell("starting, and frozen after that")
    case .stop, .freeze: if facts.isAtRest { tell(facts.restText(isKept: isKept)) }
    }
  }

  /// Has the daemon save that the unit is kept, and then stops or freezes it.
  private func keep(_ text: String, _ method: BusMethod, _ failure: String) {
    let now = EventLoop.bootMicroseconds()
    if let wait = pace.wait(at: now) {
      tell("started again and again by something else; it is stopped again in \(wait / 1_000_000) s")
      again?.arm(at: now + wait, accuracy: 100_000)
      return
    }
    pace.note(at: now)
    let wasKept = isKept
    isKept = true
    guard tell(text) else { return isKept = wasKept }
    action = bus.call(method, timeout: FollowedUnit.patience) { [unowned self] answer in
      action = nil
      if case .failure(let error) = answer, bus.state == .connected, !error.isWithoutAnswer {
        isKept = wasKept
        if error.isNobodyThere { lost() } else { tell("\(failure): \(error)") }
        return
      }
      // A call without an answer may take effect later: the unit is to be returned all the same.
      isStopping = order.means == .stop
      look()
    }
  }

  /// Tells the daemon the state; false if there is none.
  @discardableResult private func tell(_ text: String) -> Bool {
    guard !isReturning, hangup != nil else { return false }
    guard text != report else { return true }
    report = text
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
    // Also of a unit that runs, where it changes nothing: the start takes the place of a stop that waits.
    finish(by: UnitCalls.start(order.unit), "start")
  }

  private func finish(by method: BusMethod, _ verb: String) {
    action = bus.call(method, timeout: FollowedUnit.patience) { [unowned self] answer in
      action = nil
      guard case .failure(let error) = answer else { return finish(.returned(trouble: nil)) }
      guard bus.state == .connected, !error.isNobodyThere else { return lost() }
      let trouble = "cannot \(verb) \(order.unit) again: \(error)"
      guard error.isWithoutAnswer || verb == "thaw" else { return finish(.returned(trouble: trouble)) }
      // A job of the unit, for one, refuses a thaw until it has ended.
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
  /// Whether the service runs or is being started, also for the next try of a service that restarts itself.
  fileprivate var runs: Bool { ["active", "activating", "reloading", "refreshing"].contains(activeState) }

  /// Whether the manager freezes it now: it refuses units that are being started or stopped.
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
