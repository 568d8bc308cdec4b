import JSON
import RefreshAPI
import RefreshConfig
import RefreshEngine
import Systemd

/// The commands that answer conditions of apps' own: `when` of the app's file, and refresh-worker for `reachable`.
///
/// Each runs as the app's owner and is bounded in time. An app has one at a time, and the apps of one user have few; the
/// others wait for their turn. Each question that the engine asks is answered once.
final class ConditionQuestions {
  /// How long a command may take before it is asked to end; its answer is no then.
  private static let deadline = Duration.seconds(10)
  /// The answer of a command that has taken too long.
  private static let late = "no answer within \(deadline.components.seconds) s"
  /// How long refresh-worker waits for a connection.
  private static let patience = Duration.seconds(5)
  /// How many commands of the apps of one user run at once.
  private static let mostOfUser = 4
  /// The most characters of a line that a command printed, in an answer.
  private static let longestText = 200

  private struct WaitingQuestion {
    let constraint: Constraint
    let launch: TaskLaunch
  }

  private struct Running {
    let app: AppID
    let owner: UInt32
    let constraint: Constraint
    let timer: any WakeTimer
    var ending = TerminationSequence(grace: TerminationSequence.shortGrace)
    var lastLine = ""
  }

  private unowned let core: DaemonCore
  private let launcher: any Launcher
  private let environment: TaskEnvironment
  private var running: [TaskKey: Running] = [:]
  /// The commands that wait for their turn, by the user of their apps.
  private var waiting: [UInt32: [WaitingQuestion]] = [:]

  init(_ core: DaemonCore, _ ports: Ports, _ environment: TaskEnvironment) {
    (self.core, self.environment) = (core, environment)
    launcher = ports.launcher
  }

  /// Whether no command is left, apart from those that no signal ends.
  var isEmpty: Bool { running.values.allSatisfy(\.ending.isGivenUp) }
  /// Called when a command counts no more, because no signal ends it; set once.
  var onGivenUp: () -> Void = {}

  /// Asks the command of a condition; the answer is an event.
  func ask(_ id: RefreshID, _ constraint: Constraint, of app: AppConfiguration?) {
    guard let app, let launch = launch(id, constraint, of: app) else {
      if let app { answer(id, app.id, constraint, no: "no command is configured") }
      return
    }
    if running.values.contains(where: { $0.app == app.id && $0.ending.isGivenUp }) {
      return answer(
        id, app.id, constraint, no: "the process of an earlier question does not end, and waits in the kernel")
    }
    waiting[app.owner.uid, default: []].append(WaitingQuestion(constraint: constraint, launch: launch))
    startWaiting(of: app.owner.uid)
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
      properties: constraint == .reachable ? [] : app.sandbox.map(UnitProperty.init),
      confinement: constraint == .reachable ? WorkerConfinement(writes: .folders([])) : nil, input: input,
      changedPath: nil)
  }

  /// The server to reach, as refresh-worker reads it.
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

  /// Starts the commands of a user's apps whose turn has come.
  private func startWaiting(of user: UInt32) {
    while running.values.count(where: { $0.owner == user && !$0.ending.isGivenUp }) < Self.mostOfUser,
      let next = waiting[user]?.firstIndex(where: { waiting in !running.values.contains { $0.app == waiting.launch.app }
      }),
      let question = waiting[user]?.remove(at: next)
    {
      if waiting[user]?.isEmpty == true { waiting[user] = nil }
      start(question)
    }
  }

  private func start(_ question: WaitingQuestion) {
    let (key, launch) = (question.launch.key, question.launch)
    guard !core.engine.isStopping else { return }
    do throws(SystemdError) {
      let timer = try core.scheduler.timer { [unowned self] in boundPassed(key) }
      running[key] = Running(
        app: launch.app, owner: launch.owner.uid, constraint: question.constraint, timer: timer)
      core.scheduler.arm(timer, after: Self.deadline, accuracy: 1000)
    } catch {
      return answer(key.refresh, launch.app, question.constraint, no: error.description)
    }
    launcher.start(launch)
  }

  /// Keeps a line that a command printed for its answer; false if the task is no question.
  func receive(_ line: String, of key: TaskKey) -> Bool {
    guard running[key] != nil else { return false }
    if !line.allSatisfy(\.isWhitespace) { running[key]?.lastLine = String(line.prefix(Self.longestText)) }
    return true
  }

  /// Kills all commands, because the daemon stops.
  func killAll() {
    waiting = [:]
    for key in running.keys { launcher.kill(key) }
  }

  /// Handles the end of a command; false if the task is no question.
  func end(_ key: TaskKey, _ end: TaskEnd) -> Bool {
    guard let ended = running.removeValue(forKey: key) else { return false }
    ended.timer.cancel()
    launcher.release(key.refresh)
    // Of a command that has taken too long the answer was given then.
    if !ended.ending.isBegun {
      core.handle(.answered(ended.app, key.refresh, ended.constraint, Self.state(end, ended)))
    }
    startWaiting(of: ended.owner)
    return true
  }

  /// A command has taken too long: that is its answer; it is asked to end, and then killed.
  private func boundPassed(_ key: TaskKey) {
    guard var question = running[key] else { return }
    let isNew = !question.ending.isBegun
    let step = question.ending.begin(at: core.now) ?? question.ending.advance(at: core.now)
    running[key] = question
    if isNew { answer(key.refresh, question.app, question.constraint, no: Self.late) }
    if let step { launcher.send(step, to: key) }
    if let wake = question.ending.wake { question.timer.arm(at: wake.microseconds, accuracy: 1000) }
    if step == .giveUp {
      startWaiting(of: question.owner)
      onGivenUp()
    }
  }

  private func answer(_ id: RefreshID, _ app: AppID, _ constraint: Constraint, no text: String) {
    core.handle(.answered(app, id, constraint, FactState(isMet: false, text: text)))
  }

  private static func state(_ end: TaskEnd, _ question: Running) -> FactState {
    let said = question.lastLine
    return switch end.exit {
    case .exited(0): FactState(isMet: true, text: said.isEmpty ? "exit code 0" : said)
    case .exited(let code): FactState(isMet: false, text: said.isEmpty ? "exit code \(code)" : said)
    case .signalled(let signal): FactState(isMet: false, text: "ended by \(signalName(signal))")
    case .notStarted(let reason): FactState(isMet: false, text: reason)
    case .outOfMemory: FactState(isMet: false, text: "memory ran out")
    case .timedOut, .lostClient: FactState(isMet: false, text: late)
    }
  }
}
