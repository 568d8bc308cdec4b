import JSON
import RefreshAPI
import RefreshConfig
import RefreshEngine
import Systemd

/// The commands that answer conditions of apps' own: `when` of the app's file, and refresh-worker for `reachable`.
///
/// Each runs as the app's owner, and is bounded in time. An app has one at a time, and a user a few; the others queue
/// (``CommandTurns``). Each question of the engine gets one answer.
final class ConditionQuestions {
  /// How long a command may take before SIGTERM; then its answer is no.
  private static let deadline = Duration.seconds(10)
  /// The answer of a command that took too long.
  private static let late = "no answer within \(deadline.components.seconds) s"
  /// The answer while the app's command outlives SIGKILL.
  private static let stuck = "the process of an earlier question does not end, and waits in the kernel"
  /// How long refresh-worker waits for a connection.
  private static let patience = Duration.seconds(5)
  /// How many commands of one user's apps run at once.
  private static let mostOfUser = 4
  /// The most characters of a printed line in an answer.
  private static let longestText = 200

  private unowned let core: DaemonCore
  private let environment: TaskEnvironment
  private let turns: CommandTurns<Constraint>

  init(_ core: DaemonCore, _ ports: Ports, _ environment: TaskEnvironment) {
    (self.core, self.environment) = (core, environment)
    turns = CommandTurns(
      core, ports, .init(deadline: Self.deadline, mostOfUser: Self.mostOfUser))
    turns.mayStart = { [unowned self] in isStillAsked($0) }
    turns.onRefused = { [unowned self] in answer($0.launch.key.refresh, $0.launch.app, $0.purpose, no: $1) }
    turns.onLate = { [unowned self] in answer($0.refresh, $1.app, $1.purpose, no: Self.late) }
    turns.onEnd = { [unowned self] key, ended, end in
      // The engine has the answer of a late command already.
      if !ended.isLate {
        self.core.handle(.answered(ended.app, key.refresh, ended.purpose, Self.state(end, ended.lastLine)))
      }
    }
    turns.onStuck = { [unowned self] in
      refuseWaiting(behind: $0)
      onGivenUp()
    }
  }

  /// Whether no command is left, except commands that outlived SIGKILL.
  var isEmpty: Bool { turns.isEmpty }
  /// Called when a command is given up, because SIGKILL does not end it; set once.
  var onGivenUp: () -> Void = {}

  /// Asks the command of a condition; the answer is an event.
  func ask(_ id: RefreshID, _ constraint: Constraint, of app: AppConfiguration?) {
    guard let app, let launch = launch(id, constraint, of: app) else {
      if let app { answer(id, app.id, constraint, no: "no command is configured") }
      return
    }
    if turns.isStuck(app.id) { return answer(id, app.id, constraint, no: Self.stuck) }
    // The engine no longer takes an answer to an earlier question about the same.
    turns.removeWaiting(of: app.owner.uid) { $0.launch.app == app.id && $0.purpose == constraint }
    _ = turns.add(constraint, launch)
  }

  private func launch(_ id: RefreshID, _ constraint: Constraint, of app: AppConfiguration) -> TaskLaunch? {
    let command: Command
    var input: [UInt8]?
    if constraint == .reachable {
      guard let order = order(app) else { return nil }
      input = order
      command = Command(
        arguments: [environment.worker, Wire.WorkerCommand.reach.rawValue], directory: "/",
        environment: app.commands.first?.environment ?? [])
    } else {
      guard let when = app.when else { return nil }
      command = when
    }
    return TaskLaunch(
      key: TaskKey(refresh: id, task: 0), app: app.id, command: command, owner: app.owner,
      environment: environment.variables(ofNotifyCommand: command, app: app, id: id, []),
      description: "\(app.name): \(constraint.rawValue)", timeLimit: Self.deadline,
      grace: TerminationSequence.shortGrace,
      sandbox: constraint == .reachable ? AppSandbox() : app.sandbox,
      confinement: constraint == .reachable ? WorkerConfinement(writes: .folders([])) : nil, input: input,
      changedPath: nil)
  }

  /// The server to reach, as the order that refresh-worker reads.
  private func order(_ app: AppConfiguration) -> [UInt8]? {
    guard let server = app.policy.constraints.reachable, let end = server.lastIndex(of: ":"),
      let port = Int(server[end...].dropFirst())
    else { return nil }
    let host = server[..<end].drop { $0 == "[" }.prefix { $0 != "]" }
    do {
      return try Wire.ReachOrder(
        host: String(host), port: port, patienceMicroseconds: Self.patience.inMicroseconds
      ).jsonBytes()
    } catch {
      return nil
    }
  }

  /// Whether the engine still waits for the answer: the app may have been disabled, paused, refreshed or removed meanwhile.
  private func isStillAsked(_ question: CommandTurns<Constraint>.QueuedCommand) -> Bool {
    let (id, app) = (question.launch.key.refresh, question.launch.app)
    if core.engine.isAsked(id, question.purpose, of: app, at: core.now) { return true }
    core.handle(.withdrawn(app, id, question.purpose))
    return false
  }

  /// Answers the questions that queue behind a stuck command of their app.
  private func refuseWaiting(behind stuck: CommandTurns<Constraint>.Running) {
    for behind in turns.removeWaiting(of: stuck.owner, { $0.launch.app == stuck.app }) {
      answer(behind.launch.key.refresh, stuck.app, behind.purpose, no: Self.stuck)
    }
  }

  /// Keeps a line that a command printed, for its answer; false if the task is no question.
  func receive(_ line: String, of key: TaskKey) -> Bool {
    turns.receive(String(line.prefix(Self.longestText)), of: key) != nil
  }

  /// Kills all commands, because the daemon stops.
  func killAll() { turns.killAll() }

  /// Handles the end of a command; false if the task is no question.
  func end(_ key: TaskKey, _ end: TaskEnd) -> Bool { turns.end(key, end) }

  private func answer(_ id: RefreshID, _ app: AppID, _ constraint: Constraint, no text: String) {
    core.handle(.answered(app, id, constraint, FactState(isMet: false, text: text)))
  }

  private static func state(_ end: TaskEnd, _ said: String) -> FactState {
    switch end.exit {
    case .exited(0): FactState(isMet: true, text: said.isEmpty ? "exit code 0" : said)
    case .exited(let code): FactState(isMet: false, text: said.isEmpty ? "exit code \(code)" : said)
    case .signalled(let signal): FactState(isMet: false, text: "ended by \(signalName(signal))")
    case .notStarted(let reason), .noMeans(let reason): FactState(isMet: false, text: reason)
    case .outOfMemory: FactState(isMet: false, text: "memory ran out")
    case .timedOut, .lostClient, .notTaken: FactState(isMet: false, text: late)
    }
  }
}
