import JSON
import RefreshAPI
import RefreshConfig
import RefreshEngine
import Systemd

/// The running notify commands: `on_stale`, `on_held`, `on_failure`, `on_new_data`, `on_success`, and the desktop notice of
/// a transfer session.
///
/// Each is bounded in time, and reports a failure only to the journal. After a start many apps may have reports at once, so
/// few commands of each user run at once, and the others queue (``CommandQueue``). An app has one at a time. Of each kind
/// only its newest command stays in the queue.
final class NotifyCommands: CommandOwner {
  enum Kind {
    case staleData
    case heldRefresh
    case sessionEnded
    case failure
    case newData
    case success

    /// The name in the journal.
    var name: String {
      switch self {
      case .staleData: "on_stale"
      case .heldRefresh: "on_held"
      case .sessionEnded: "notify"
      case .failure: "on_failure"
      case .newData: "on_new_data"
      case .success: "on_success"
      }
    }
  }

  /// How long a command may take before SIGTERM.
  private static let deadline = Duration.seconds(30)

  /// How many commands of one user's apps run at once.
  private static let mostOfUser = 8

  /// How many commands of one user's apps may queue; further commands are dropped.
  private static let mostWaiting = 1000

  /// The most characters of a task's message in a variable.
  private static let longestText = 1000

  private unowned let core: DaemonCore
  private let journal: DaemonJournal
  private let environment: TaskEnvironment
  private let processes: Processes
  private lazy var queue = CommandQueue<Kind>(
    core, processes, CommandBounds(deadline: Self.deadline, mostOfUser: Self.mostOfUser, mostWaiting: Self.mostWaiting),
    for: self)

  init(_ core: DaemonCore, _ ports: Ports, _ environment: TaskEnvironment) {
    (self.core, self.environment) = (core, environment)
    (journal, processes) = (ports.journal, ports.processes)
  }

  /// Whether no command is left, except commands that outlived SIGKILL.
  var isEmpty: Bool { queue.isEmpty }

  /// Reports to the journal that an app's data is stale, and runs its `on_stale` command.
  func reportStale(_ run: Run, _ app: AppConfiguration, since: Instant) {
    let age = since.duration(to: core.now)
    journal.dataIsStale(of: app.id, age: age, limit: app.policy.staleAfter)
    start(.staleData, app.onStale, run, of: app, [("REFRESH_DATA_AGE", "\(age.components.seconds)")])
  }

  /// Reports to the journal that a due refresh of an app is held too long, and runs its `on_held` command.
  func reportHeld(_ run: Run, _ app: AppConfiguration, by holds: [Hold.Name], since: Instant) {
    let wait = since.duration(to: core.now)
    let names = holds.map(\.rawValue)
    journal.refreshWaits(of: app.id, for: wait, holds: names)
    start(
      .heldRefresh, app.onHeld, run, of: app,
      [("REFRESH_HELD_FOR", "\(wait.components.seconds)"), ("REFRESH_HOLDS", names.joined(separator: " "))])
  }

  /// Runs the file's commands for the end of a refresh.
  func reportEnd(_ report: EndReport, _ app: AppConfiguration) {
    let (record, rules) = (report.record, app.ends)
    let facts = [
      ("REFRESH_ENDED_ID", record.id.description), ("REFRESH_TRIGGER", record.trigger.rawValue),
      ("REFRESH_OUTCOME", record.outcome.kind.rawValue), ("REFRESH_FAILURES", "\(report.failures)"),
      ("REFRESH_MESSAGE", Self.variable(record.message)),
    ]
    if report.isFailing { start(.failure, rules.onFailure, makeRun(app), of: app, facts) }
    if record.outcome == .newData { start(.newData, rules.onNewData, makeRun(app), of: app, facts) }
    if record.outcome.isFresh { start(.success, rules.onSuccess, makeRun(app), of: app, facts) }
  }

  private func makeRun(_ app: AppConfiguration) -> Run { core.makeRun(of: app.id, for: .notice) }

  /// A task's text as the value of a variable: one line of at most 1,000 characters.
  ///
  /// systemd refuses a variable with a control character or a noncharacter.
  static func variable(_ text: String) -> String {
    text.unicodeScalars.prefix(longestText).reduce(into: "") { line, scalar in
      line.unicodeScalars.append(scalar.isText ? scalar : " ")
    }
  }

  /// Runs a command of the app's file, if it has one, with its report as variables.
  private func start(
    _ kind: Kind, _ command: Command?, _ run: Run, of app: AppConfiguration,
    _ facts: [(name: String, value: String)]
  ) {
    guard let command, !core.engine.isStopping else { return }
    start(
      kind, command, run, of: app, environment.variables(ofNotifyCommand: command, app: app, run: run, facts),
      description: "\(app.name): \(kind.name)", sandbox: app.sandbox,
      confinement: nil, input: nil)
  }

  /// Shows a notice on the owner's desktop, through `refresh-worker notify`.
  func showOnDesktop(_ notice: Wire.DesktopNotice, of app: AppConfiguration) {
    let run = makeRun(app)
    let command = Command(
      arguments: [environment.worker, Wire.WorkerCommand.notify.rawValue], directory: "/",
      environment: app.commands.first?.environment ?? [])
    let text: String
    do {
      text = try notice.jsonText(.line)
    } catch {
      return journal.notifyFailed(.sessionEnded, app.id, "\(error)")
    }
    start(
      .sessionEnded, command, run, of: app, environment.variables(ofNotice: command, app: app, run: run),
      description: "\(app.name): desktop notification", sandbox: AppSandbox(),
      confinement: WorkerConfinement(writes: .folders([])), input: [UInt8](text.utf8))
  }

  private func start(
    _ kind: Kind, _ command: Command, _ run: Run, of app: AppConfiguration, _ variables: [String],
    description: String, sandbox: AppSandbox, confinement: WorkerConfinement?, input: [UInt8]?
  ) {
    let launch = TaskLaunch(
      key: ProcessKey(run), app: app.id, command: command, owner: app.owner, environment: variables,
      description: description, timeLimit: Self.deadline, grace: TerminationSequence.shortGrace,
      sandbox: sandbox, confinement: confinement, input: input, changedPath: nil)
    // Each notice has its own text; of the other kinds the newest suffices.
    if kind != .sessionEnded {
      queue.removeWaiting(of: app.owner.uid) { $0.launch.app == app.id && $0.purpose == kind }
    }
    if queue.isStuck(app.id) {
      return journal.notifyFailed(
        kind, app.id, "the process of an earlier command is blocked in the kernel and cannot be killed")
    }
    if !queue.add(kind, launch, isAlone: kind != .sessionEnded) {
      journal.notifyFailed(kind, app.id, "\(Self.mostWaiting) commands of this user are already waiting")
    }
  }

  /// Asks all commands to end, because the daemon stops.
  func endAll() { queue.endAll() }

  /// Kills all commands, because the daemon must stop at once.
  func killAll() { queue.killAll() }

  // MARK: - The queue's commands

  func mayStart(_ command: QueuedCommand<Kind>) -> Bool { queue.isOfItsApp(command) }

  func refused(_ command: QueuedCommand<Kind>, _ reason: String) {
    journal.notifyFailed(command.purpose, command.launch.app, reason)
  }

  func printed(_ line: String, by command: RunningCommand<Kind>, _ run: RunID) {
    journal.output(line, of: run, command.app, task: command.purpose.name)
  }

  func late(_ command: RunningCommand<Kind>) {}

  func stuck(_ command: RunningCommand<Kind>) {
    journal.notifyFailed(
      command.purpose, command.app, "its process is blocked in the kernel and cannot be killed")
  }

  func ended(_ command: RunningCommand<Kind>, _ end: TaskEnd) {
    if let reason = end.trouble(of: "it") { journal.notifyFailed(command.purpose, command.app, reason) }
  }
}
