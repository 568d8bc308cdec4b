import RefreshEngine

/// The parts of the daemon that run commands for apps beside their refreshes.
struct CommandParts {
  let notify: NotifyCommands
  let questions: ConditionQuestions
  let pings: Pings

  init(_ core: DaemonCore, _ ports: Ports, _ environment: TaskEnvironment) {
    notify = NotifyCommands(core, ports, environment)
    questions = ConditionQuestions(core, ports, environment)
    pings = Pings(core, ports, environment)
  }

  /// Whether no command is left, apart from those that no signal ends.
  var isEmpty: Bool { notify.isEmpty && questions.isEmpty && pings.isEmpty }

  /// Sets the handler for a command that SIGKILL does not end.
  func onGivenUp(_ call: @escaping () -> Void) {
    (notify.onGivenUp, questions.onGivenUp, pings.onGivenUp) = (call, call, call)
  }

  /// Passes on a line that a command printed; false if no command has the task.
  func receive(_ line: String, of key: TaskKey) -> Bool {
    notify.receive(line, of: key) || questions.receive(line, of: key) || pings.receive(line, of: key)
  }

  /// Handles the end of a command; false if no command has the task.
  func end(_ key: TaskKey, _ end: TaskEnd) -> Bool {
    notify.end(key, end) || questions.end(key, end) || pings.end(key, end)
  }

  /// Ends all commands, because the daemon stops; a notify command may be at work, and gets a grace.
  func endAll() {
    notify.endAll()
    questions.killAll()
    pings.killAll()
  }

  /// Kills all commands, because the daemon must stop at once.
  func killAll() {
    notify.killAll()
    questions.killAll()
    pings.killAll()
  }
}
