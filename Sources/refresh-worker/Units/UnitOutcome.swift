import RefreshAPI

/// Converts the end of a unit's run to the end of a task: an exit code that the app's file judges, or a result.
enum UnitOutcome: Hashable {
  /// The main process of the unit exited with this code.
  case exited(Int32)
  /// The unit ended in another way.
  case result(TaskResult)

  /// Reads the end of a run.
  ///
  /// - Parameters:
  ///   - order: the unit, and the exit codes with a meaning of their own.
  ///   - facts: the properties of the unit after the run.
  ///   - job: the result of the job that started the unit, such as `done`; nil if unknown.
  ///   - hasRun: whether the unit has begun a new run.
  init(_ order: Wire.UnitOrder, _ facts: UnitFacts, job: String?, hasRun: Bool) {
    let unit = order.unit
    guard hasRun else {
      self = .result(Self.unstarted(unit, facts, job: job))
      return
    }
    switch (facts.result, facts.mainEnd) {
    case ("exec-condition", _): self = .result(TaskResult(.noData, "not run: its ExecCondition= is not met"))
    case ("success", .exited(let code)): self = Self.success(code, order)
    case ("exit-code", .exited(let code)) where code != 0: self = .exited(code)
    case ("success", nil): self = .exited(0)
    case ("success", .signalled): self = .failed("\(unit) was stopped before it had finished")
    case ("exit-code", _):
      self = .failed("a command of \(unit) other than its main one has failed, such as ExecStartPre=")
    case ("signal", .signalled(let signal)), ("core-dump", .signalled(let signal)):
      self = .failed("\(unit) was ended by signal \(signal)")
    case ("timeout", _):
      self = .failed("\(unit) took longer than its own file allows (TimeoutStartSec=, RuntimeMaxSec=)")
    case ("oom-kill", _): self = .failed("\(unit) was killed because memory ran out")
    case ("watchdog", _): self = .failed("\(unit) did not answer its watchdog (WatchdogSec=)")
    case (let result, _): self = .failed("systemd gave \(unit) up: \(result)")
    }
  }

  /// Converts a run that systemd calls a success: with code 0, or a code of `SuccessExitStatus=` or `ExecStart=-`.
  private static func success(_ code: Int32, _ order: Wire.UnitOrder) -> UnitOutcome {
    let codes = [0, order.noDataExit, order.retryExit]
    if codes.contains(Int(code)) { return .exited(code) }
    // With 0 the daemon checks a path that should change, unless the app's file gives 0 its own meaning.
    return codes[1...].contains(0)
      ? .result(TaskResult(.newData, "exit code \(code), a success by its file")) : .exited(0)
  }

  private static func failed(_ message: String) -> UnitOutcome { .result(TaskResult(TaskFailure(.failed, message))) }

  private static func unstarted(_ unit: String, _ facts: UnitFacts, job: String?) -> TaskResult {
    if facts.result == "start-limit-hit" {
      return TaskResult(
        TaskFailure(.retry(after: nil), "cannot start \(unit): it was started too often (StartLimitBurst=)"))
    }
    if job == "assert" {
      return TaskResult(TaskFailure(.failed, "cannot start \(unit): an Assert…= in its file is not met"))
    }
    // systemd calls a job done if an unmet condition made it do nothing. The conditions keep their results.
    if job == "done" || job == nil, !facts.unmetConditions.isEmpty { return unmet(unit, facts.unmetConditions) }
    let reason =
      switch job {
      case "dependency": "a unit that it requires cannot be started"
      case "canceled": "its start was cancelled"
      case "timeout": "its start took too long (JobTimeoutSec=)"
      case let job?: "the service manager says \(job)"
      case nil: "the service manager has not begun its run"
      }
    return TaskResult(TaskFailure(.retry(after: nil), "cannot start \(unit): \(reason)"))
  }

  /// The result of a unit that systemd skipped because of its conditions, as systemd does for a timer.
  private static func unmet(_ unit: String, _ conditions: [String]) -> TaskResult {
    let sentence = "not run: \(conditions.joined(separator: ", ")) is not met"
    // Work that waits for mains power is not done yet.
    guard conditions.contains(where: { $0.hasPrefix("ConditionACPower=") }) else {
      return TaskResult(.noData, sentence)
    }
    return TaskResult(
      TaskFailure(.retry(after: nil), #"\#(sentence); write power = "ac" into the app's file instead"#))
  }
}

extension UnitFacts {
  /// The reason why the unit cannot be started, with the remedy; nil if no obstacle is known.
  func obstacle(to unit: String, isOfMachine: Bool) -> String? {
    let systemctl = isOfMachine ? "systemctl" : "systemctl --user"
    switch loadState {
    case "masked": return "cannot start \(unit): it is masked; `\(systemctl) unmask \(unit)` allows it"
    case "not-found":
      let (whose, remedy) =
        isOfMachine
        ? ("the machine", "correct its name")
        : ("the owner", "correct its name (only an app of root in the system's daemon starts units of the machine)")
      return "cannot start \(unit): \(whose) has no such unit; \(remedy), "
        + "or install it and run `\(systemctl) daemon-reload`"
    case "loaded", "": break
    default:
      return "cannot start \(unit): its file has mistakes (\(loadError.isEmpty ? loadState : loadError)); "
        + "`\(systemctl) status \(unit)` names them"
    }
    if !mayBeStarted { return "cannot start \(unit): its file refuses it (RefuseManualStart=yes)" }
    if remainsAfterExit {
      return "cannot start \(unit) again: it counts as active since its last run; "
        + "write RemainAfterExit=no into a drop-in (`\(systemctl) edit \(unit)`)"
    }
    return nil
  }
}
