import Glibc
import RefreshAPI
import Systemd

/// A run of a service: starts it or joins the run that goes on already, and follows it to its end.
///
/// A run that somebody else began, such as the unit's own timer, is only waited for; nothing here stops it.
final class UnitRun {
  /// How long the service manager may be away before the task gives up, in microseconds.
  private static let longestAbsence: Int64 = 10_000_000
  /// How long the last lines of a run may take to arrive in the journal: after the end of the run, and after the
  /// manager's message of it, in microseconds.
  private static let longestDrain: Int64 = 1_000_000
  private static let drain: Int64 = 200_000
  /// How long after the first process of a run systemd notes its beginning at the latest, in microseconds.
  private static let longestUntilNoted: UInt64 = 1_000_000

  private enum Step {
    /// The manager is not reached yet.
    case connecting
    /// The unit is being looked at before the start.
    case looking
    /// The unit was asked to start.
    case starting
    /// The run goes on; ours or another's.
    case running
    /// The run is over; the last lines of its output are awaited.
    case draining(UnitOutcome)
  }

  var facts: UnitFacts { unit.facts }
  private let order: Wire.UnitOrder
  private let loop: EventLoop
  private let unit: FollowedUnit
  private var step = Step.connecting
  /// Whether this task began the run, and so ends it when it is asked to end.
  private var isOurs = false
  private var isAskedToEnd = false
  /// Whether the manager was asked on this connection to stop the unit.
  private var isStopping = false
  /// When the manager was asked for a run of ours, microseconds of the wall clock; nil for another's run.
  private var orderedAt: UInt64?
  /// The run before ours, then the one that is followed; another id is that of a new run.
  private var earlier = ""
  private var hasRun = false
  /// The start of ours at the manager, and how it came out.
  private var job: String?
  private var jobResult: String?
  private var outcome: UnitOutcome?
  private var jobs: BusListener?
  private var timer: TimerSource?
  private var signal: SignalSource?
  private var journal: JournalReader?
  /// Whether the journal has the manager's message that the run is over.
  private var isInJournal = false

  init(_ order: Wire.UnitOrder) throws(SystemdError) {
    self.order = order
    loop = try EventLoop()
    unit = try FollowedUnit(order.unit, isOfMachine: order.manager == .system, on: loop)
  }

  /// Follows the unit until its run is over; nil if the task was asked to end before.
  func run() throws(SystemdError) -> UnitOutcome? {
    ShownLines.open()
    timer = try loop.timer { [unowned self] in timeIsUp() }
    signal = try loop.onSignal(SIGTERM) { [unowned self] in end() }
    jobs = unit.bus.listen(to: UnitCalls.jobRemoved) { [unowned self] in removed($0) }
    unit.onConnected = { [unowned self] in
      timer?.disarm()
      isStopping = false
    }
    unit.onFound = { [unowned self] in found() }
    // Before the start, and after the end of the run, changes say nothing.
    unit.onChanged = { [unowned self] in if case .running = step { advance() } }
    unit.onLost = { [unowned self] in lost() }
    unit.follow()
    _ = try loop.run()
    return outcome
  }

  // MARK: Manager

  private func found() {
    switch step {
    case .connecting, .looking:
      step = .looking
      look { [unowned self] in begin() }
    case .starting, .running: look { [unowned self] in resume() }
    case .draining: break
    }
  }

  private func lost() {
    if case .draining = step { return }
    timer?.arm(at: EventLoop.bootMicroseconds() + Self.longestAbsence, accuracy: 1_000_000)
    // A user's manager is there or not; only the machine's is away for a moment.
    if case .connecting = step, case .absent(let reason) = unit.bus.state { giveUp(reason) }
  }

  private func timeIsUp() {
    if case .draining(let outcome) = step { return finish(outcome) }
    giveUp("none answers on the \(unit.bus.address.name)")
  }

  private func giveUp(_ reason: String) {
    let remedy =
      unit.isOfMachine ? "" : "; it is there while the user is logged in, or lingers (loginctl enable-linger)"
    conclude(TaskFailure(.retry(after: nil), "cannot reach the service manager for \(order.unit): \(reason)\(remedy)"))
  }

  /// Reads all properties of the unit.
  private func look(then next: @escaping () -> Void) {
    unit.look(then: next) { [unowned self] error in
      conclude(TaskFailure(.retry(after: nil), "cannot look at \(order.unit): \(error)"))
    }
  }

  // MARK: Run

  private func begin() {
    if isAskedToEnd { return loop.exit(0) }
    if let obstacle = facts.obstacle(to: order.unit, isOfMachine: unit.isOfMachine) {
      return conclude(TaskFailure(.failed, obstacle))
    }
    if !facts.isAtRest, facts.activeState != "deactivating" {
      ShownLines.write("\(order.unit) runs already; this refresh waits for its end")
      // A start that is still pending begins another run than the last one.
      if facts.activeState == "inactive" || facts.activeState == "failed" { earlier = facts.invocation }
      step = .running
      return advance()
    }
    earlier = facts.invocation
    step = .starting
    isOurs = true
    orderedAt = UInt64(clamping: EventLoop.wallMicroseconds())
    unit.ask(UnitCalls.start(order.unit)) { [unowned self] answer in
      switch answer {
      case .success(let values):
        job = values.first?.text
        look { [unowned self] in resume() }
      case .failure(let error) where error.isNobodyThere || unit.bus.state != .connected: lost()
      case .failure(let error): refused(error)
      }
    }
  }

  private func refused(_ error: BusError) {
    isOurs = false
    guard error.isRefusal else {
      return conclude(TaskFailure(.failed, "cannot start \(order.unit): the service manager refuses: \(error)"))
    }
    let who = unit.isOfMachine ? "the machine's service manager" : "the user's service manager"
    conclude(TaskFailure(.failed, "cannot start \(order.unit): \(who) does not allow it to this user: \(error)"))
  }

  private func resume() {
    step = .running
    advance()
  }

  private func removed(_ values: [BusValue]) {
    let names = [order.unit, facts.id]
    guard values.count == 4, names.contains(values[2].text ?? ""), job == nil || values[1].text == job else { return }
    jobResult = values[3].text
  }

  /// Moves on by what is known of the unit.
  private func advance() {
    if !facts.invocation.isEmpty, facts.invocation != earlier {
      hasRun = true
      // A service that restarts itself begins a run each time.
      earlier = facts.invocation
      followJournal()
    }
    if facts.isAtRest || facts.remainsAfterExit, hasRun || facts.isAtRest {
      // Counters are not among the changes that the manager sends.
      return look { [unowned self] in
        guard case .running = step, facts.isAtRest || facts.remainsAfterExit else { return }
        conclude(UnitOutcome(order, facts, job: jobResult, hasRun: hasRun))
      }
    }
    if isAskedToEnd { stop() }
  }

  private func followJournal() {
    journal?.readRest(within: Self.drain)
    isInJournal = false
    // systemd notes the beginning of a run when its first process prints already. A service that restarts itself is one
    // run after another, and the lines of the earlier ones have been shown.
    let begun = orderedAt ?? facts.start - min(facts.start, Self.longestUntilNoted)
    let start = max(begun, journal.map { $0.newest + 1 } ?? 0)
    let ownName = unit.isOfMachine ? facts.id : nil
    do throws(SystemdError) {
      journal = try JournalReader(invocation: facts.invocation, unit: ownName, since: start, on: loop) {
        ShownLines.write($0)
      } onEnd: { [unowned self] in
        isInJournal = true
        if case .draining = step { timer?.arm(at: EventLoop.bootMicroseconds() + Self.drain, accuracy: 1) }
      }
    } catch {
      ShownLines.write("cannot show what \(order.unit) prints: \(error)")
    }
  }

  // MARK: End

  /// Ends a run of ours, because the refresh is to end.
  private func end() {
    isAskedToEnd = true
    switch step {
    case .connecting, .looking: loop.exit(0)
    case .running where !isOurs: loop.exit(0)
    case .starting, .running: stop()
    case .draining(let outcome): finish(outcome)
    }
  }

  private func stop() {
    guard isOurs else { return loop.exit(0) }
    guard !isStopping else { return }
    isStopping = true
    unit.bus.send(UnitCalls.stop(order.unit))
  }

  private func conclude(_ failure: TaskFailure) { conclude(.result(TaskResult(failure))) }

  private func conclude(_ outcome: UnitOutcome) {
    guard let journal, journal.hasFiles else { return finish(outcome) }
    step = .draining(outcome)
    let wait = isInJournal ? Self.drain : Self.longestDrain
    timer?.arm(at: EventLoop.bootMicroseconds() + wait, accuracy: 1)
  }

  private func finish(_ outcome: UnitOutcome) {
    journal?.readRest(within: Self.longestDrain)
    self.outcome = isAskedToEnd ? nil : outcome
    loop.exit(0)
  }
}

extension BusError {
  /// Whether the manager refuses the caller, and not the call.
  fileprivate var isRefusal: Bool {
    [
      "org.freedesktop.DBus.Error.InteractiveAuthorizationRequired", "org.freedesktop.DBus.Error.AccessDenied",
    ].contains(name)
  }
}
