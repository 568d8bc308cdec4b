import Glibc
import RefreshAPI
import Systemd
import Varlink

/// The built-in task `unit`: starts a systemd service, waits for its end, and ends with the same result.
enum UnitTask {
  /// Runs the task and returns the exit code.
  static func run() -> Int32 {
    TaskContext.run(Wire.UnitOrder.self) { order, context in
      do throws(SystemdError) {
        let run = try UnitRun(order)
        guard let outcome = try run.run() else { return EX_TEMPFAIL }
        report(run.facts, context)
        switch outcome {
        case .exited(let code): return code
        case .result(let result): return context.end(result)
        }
      } catch {
        return context.end(TaskResult(TaskFailure(.retry(after: nil), "\(error)")))
      }
    }
  }

  /// Reports the resources that the unit has used.
  private static func report(_ facts: UnitFacts, _ context: TaskContext) {
    guard facts.cpu != nil || facts.bytes != nil else { return }
    do throws(ClientError) {
      _ = try context.call(WorkerInterface.Account.self) { token in
        WorkerInterface.Account.Parameters(
          token: token, cpuMicroseconds: facts.cpu.map { Int64(min($0 / 1000, 1 << 50)) },
          bytes: facts.bytes.map { Int64(min($0, 1 << 53)) })
      }
    } catch {
      logError("cannot report to refreshd what the unit has used: \(error)")
    }
  }
}

/// Runs a service: starts it or joins its present run, and follows the run to its end.
///
/// The task never stops a run that someone else began, such as the unit's own timer.
private final class UnitRun {
  /// The longest absence of the service manager before the task gives up, in microseconds.
  private static let longestAbsence: Int64 = 10_000_000
  /// The longest wait for the last lines in the journal, after the end of the run and again after the manager's message of
  /// it, in microseconds.
  private static let longestDrain: Int64 = 1_000_000
  private static let drain: Int64 = 200_000
  /// The longest time from a run's first process until systemd records the beginning of the run, in microseconds.
  private static let longestUntilRecorded: UInt64 = 1_000_000

  private enum Step {
    /// The manager is not connected yet.
    case connecting
    /// The task reads the unit before the start.
    case looking
    /// The manager was asked to start the unit.
    case starting
    /// The run of this task or of someone else continues.
    case running
    /// The run has ended; the last lines of its output are awaited.
    case draining(UnitOutcome)
  }

  var facts: UnitFacts { unit.facts }
  private let order: Wire.UnitOrder
  private let loop: EventLoop
  private let unit: FollowedUnit
  private var step = Step.connecting
  /// Whether this task began the run, so that it must stop it when it is asked to end.
  private var isOurs = false
  private var isAskedToEnd = false
  /// Whether the manager was asked on this connection to stop the unit.
  private var isStopping = false
  /// The time at which this task requested its run, in microseconds of the wall clock; nil for someone else's run.
  private var orderedAt: UInt64?
  /// The id of the run before this task's, then of the followed run; another id means a new run.
  private var earlier = ""
  private var hasRun = false
  /// The start job of this task at the manager, and its result.
  private var job: String?
  private var jobResult: String?
  private var outcome: UnitOutcome?
  private var jobs: BusListener?
  private var timer: TimerSource?
  private var signal: SignalSource?
  private var journal: JournalReader?
  /// Whether the journal has the manager's message about the end of the run.
  private var isInJournal = false

  init(_ order: Wire.UnitOrder) throws(SystemdError) {
    self.order = order
    loop = try EventLoop()
    unit = try FollowedUnit(order.unit, isOfMachine: order.manager == .system, on: loop)
  }

  /// Follows the unit until its run ends; nil if the task was asked to end earlier.
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
    // Before the start, and after the end of the run, changes mean nothing.
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
    // Only the machine's manager can be away for a moment; a user's manager is there or not.
    if case .connecting = step, case .absent(let reason) = unit.bus.state { giveUp(reason) }
  }

  private func timeIsUp() {
    if case .draining(let outcome) = step { return finish(outcome) }
    giveUp("none answers on the \(unit.bus.address.name)")
  }

  private func giveUp(_ reason: String) {
    let remedy =
      unit.isOfMachine ? "" : "; it exists while the user is logged in, or lingers (loginctl enable-linger)"
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
      // A pending start begins another run than the last one.
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

  /// Continues according to the known state of the unit.
  private func advance() {
    if !facts.invocation.isEmpty, facts.invocation != earlier {
      hasRun = true
      // A service that restarts itself begins a new run each time.
      earlier = facts.invocation
      followJournal()
    }
    if facts.isAtRest || facts.remainsAfterExit, hasRun || facts.isAtRest {
      // The manager does not send changes of counters.
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
    // systemd records the beginning of a run only after its first process may have printed. A service that restarts itself
    // has several runs, and the lines of the earlier runs have been shown.
    let begun = orderedAt ?? facts.start - min(facts.start, Self.longestUntilRecorded)
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

  /// Stops this task's run, because the refresh must end.
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
  /// Whether the manager refuses the caller rather than the call.
  fileprivate var isRefusal: Bool {
    [
      "org.freedesktop.DBus.Error.InteractiveAuthorizationRequired", "org.freedesktop.DBus.Error.AccessDenied",
    ].contains(name)
  }
}
