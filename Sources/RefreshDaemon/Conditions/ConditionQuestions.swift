import JSON
import RefreshAPI
import RefreshConfig
import RefreshEngine
import Systemd

/// The commands that answer conditions of apps' own: `when` of the app's file, and refresh-worker for `reachable`.
///
/// Each runs as the app's owner, and is bounded in time. An app has one at a time, and a user a few; the others queue
/// (``CommandQueue``). Each question of the engine gets one answer.
final class ConditionQuestions: CommandOwner {
  /// How long a command may take before SIGTERM; then its answer is no.
  private static let deadline = Duration.seconds(10)
  /// The answer of a command that took too long.
  private static let late = "no answer within \(deadline.components.seconds) s"
  /// The answer while the app's command outlives SIGKILL.
  private static let stuck = "the process of an earlier question is blocked in the kernel and cannot be killed"
  /// How long refresh-worker waits for a connection.
  private static let patience = Duration.seconds(5)
  /// How many commands of one user's apps run at once.
  private static let mostOfUser = 4
  /// The most characters of a printed line in an answer.
  private static let longestText = 200

  private unowned let core: DaemonCore
  private let environment: TaskEnvironment
  private let processes: Processes
  private lazy var queue = CommandQueue<Run>(
    core, processes,
    CommandBounds(deadline: Self.deadline, mostOfUser: Self.mostOfUser, longestLine: Self.longestText), for: self)

  init(_ core: DaemonCore, _ ports: Ports, _ environment: TaskEnvironment) {
    (self.core, self.environment, processes) = (core, environment, ports.processes)
  }

  /// Whether no command is left, except commands that outlived SIGKILL.
  var isEmpty: Bool { queue.isEmpty }

  /// Asks the command of a condition; the answer is an event.
  func ask(_ question: Run, of app: AppConfiguration?) {
    guard let app, let launch = launch(question, of: app) else {
      if app != nil { answer(question, no: "no command is configured") }
      return
    }
    if queue.isStuck(app.id) { return answer(question, no: Self.stuck) }
    // The engine no longer takes an answer to an earlier question about the same.
    queue.removeWaiting(of: app.owner.uid) { $0.launch.app == app.id && $0.purpose.owner == question.owner }
    _ = queue.add(question, launch)
  }

  private func launch(_ question: Run, of app: AppConfiguration) -> TaskLaunch? {
    guard let constraint = question.constraint else { return nil }
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
      key: ProcessKey(question), app: app.id, command: command, owner: app.owner,
      environment: environment.variables(ofNotifyCommand: command, app: app, run: question, []),
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

  /// Kills all commands, because the daemon stops.
  func killAll() { queue.killAll() }

  // MARK: - The queue's commands

  /// Whether the engine still waits for the answer: the app may have been disabled, paused, refreshed or removed meanwhile.
  func mayStart(_ question: QueuedCommand<Run>) -> Bool {
    if core.engine.isAsked(question.purpose, at: core.now) { return true }
    core.handle(.withdrawn(question.purpose))
    return false
  }

  func refused(_ question: QueuedCommand<Run>, _ reason: String) { answer(question.purpose, no: reason) }

  func printed(_ line: String, by question: RunningCommand<Run>, _ run: RunID) {}

  func late(_ question: RunningCommand<Run>) { answer(question.purpose, no: Self.late) }

  /// Answers the questions that queue behind a stuck command of their app.
  func stuck(_ question: RunningCommand<Run>) {
    for behind in queue.removeWaiting(of: question.owner, { $0.launch.app == question.app }) {
      answer(behind.purpose, no: Self.stuck)
    }
  }

  func ended(_ question: RunningCommand<Run>, _ end: TaskEnd) {
    // The engine has the answer of a late command already.
    if !question.isLate { core.handle(.answered(question.purpose, Self.state(end, question.lastLine))) }
  }

  private func answer(_ question: Run, no text: String) {
    core.handle(.answered(question, FactState(isMet: false, text: text)))
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
