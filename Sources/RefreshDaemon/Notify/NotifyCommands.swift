import JSON
import RefreshAPI
import RefreshConfig
import RefreshEngine
import Systemd

/// The notify commands that run: `on_stale` of stale data, and the desktop notice of a session of transfers.
///
/// Each is bounded in time, and reports a failure to the journal only.
final class NotifyCommands {
  enum Kind {
    case staleData
    case sessionEnded

    /// The name in the journal.
    var name: String {
      switch self {
      case .staleData: "on_stale"
      case .sessionEnded: "notify"
      }
    }
  }

  /// How long a command may take before it is asked to end.
  private static let deadline = Duration.seconds(30)

  private struct Running {
    let app: AppID
    let kind: Kind
    let timer: any WakeTimer
    var ending = TerminationSequence(grace: TerminationSequence.shortGrace)
  }

  private unowned let core: DaemonCore
  private let launcher: any Launcher
  private let journal: DaemonJournal
  private let environment: TaskEnvironment
  private var running: [TaskKey: Running] = [:]

  init(_ core: DaemonCore, _ ports: Ports, _ environment: TaskEnvironment) {
    (self.core, self.environment) = (core, environment)
    (launcher, journal) = (ports.launcher, ports.journal)
  }

  /// Whether no command is left, apart from those that no signal ends.
  var isEmpty: Bool { running.values.allSatisfy(\.ending.isGivenUp) }
  /// Called when a command counts no more, because no signal ends it; set once.
  var onGivenUp: () -> Void = {}

  /// Reports to the journal that an app's data is stale, and runs its `on_stale` command.
  func reportStale(_ id: RefreshID, _ app: AppConfiguration, since: Instant) {
    let age = since.duration(to: core.now)
    journal.dataIsStale(of: app.id, age: age, limit: app.policy.staleAfter)
    guard let command = app.onStale, !core.engine.isStopping else { return }
    run(
      .staleData, command, id, of: app,
      environment.variables(ofNotifyCommand: command, app: app, id: id, age: age),
      description: "\(app.name): on_stale", properties: app.sandbox.map(UnitProperty.init),
      confinement: nil, input: nil)
  }

  /// Shows a text on the owner's desktop, through `refresh-worker notify`.
  func showOnDesktop(_ text: String, of app: AppConfiguration) {
    let id = core.makeID()
    let command = Command(
      arguments: [environment.worker, Wire.WorkerCommand.notify.rawValue], directory: "/",
      environment: app.commands.first?.environment ?? [])
    let notice: String
    do {
      notice = try DesktopNotice(title: app.name, body: text).jsonText(.line)
    } catch {
      return journal.notifyFailed(.sessionEnded, app.id, "\(error)")
    }
    run(
      .sessionEnded, command, id, of: app, environment.variables(ofNotice: command, app: app, id: id),
      description: "\(app.name): desktop notification", properties: [],
      confinement: WorkerConfinement(writes: .folders([])), input: [UInt8](notice.utf8))
  }

  private func run(
    _ kind: Kind, _ command: Command, _ id: RefreshID, of app: AppConfiguration, _ variables: [String],
    description: String, properties: [UnitProperty], confinement: WorkerConfinement?, input: [UInt8]?
  ) {
    let key = TaskKey(refresh: id, task: 0)
    do throws(SystemdError) {
      let timer = try core.scheduler.timer { [unowned self] in boundPassed(key) }
      running[key] = Running(app: app.id, kind: kind, timer: timer)
      core.scheduler.arm(timer, after: Self.deadline, accuracy: 1000)
    } catch {
      return journal.notifyFailed(kind, app.id, "\(error)")
    }
    launcher.start(
      TaskLaunch(
        key: key, app: app.id, command: command, owner: app.owner, environment: variables, description: description,
        timeLimit: Self.deadline, grace: TerminationSequence.shortGrace, properties: properties,
        confinement: confinement, input: input, changedPath: nil))
  }

  /// Hands a line that a command printed to the journal; false if the task is no notify command.
  func receive(_ line: String, of key: TaskKey) -> Bool {
    guard let command = running[key] else { return false }
    journal.output(line, of: key.refresh, command.app, task: command.kind.name)
    return true
  }

  /// Kills all commands, because the daemon stops.
  func killAll() {
    for key in running.keys { launcher.kill(key) }
  }

  /// Handles the end of a command; false if the task is no notify command.
  func end(_ key: TaskKey, _ end: TaskEnd) -> Bool {
    guard let ended = running.removeValue(forKey: key) else { return false }
    ended.timer.cancel()
    launcher.release(key.refresh)
    if let reason = Self.trouble(end) { journal.notifyFailed(ended.kind, ended.app, reason) }
    return true
  }

  /// A command has taken too long: first it is asked to end, then it is killed.
  private func boundPassed(_ key: TaskKey) {
    guard var command = running[key] else { return }
    let step = command.ending.begin(at: core.now) ?? command.ending.advance(at: core.now)
    running[key] = command
    if let step { launcher.send(step, to: key) }
    if let wake = command.ending.wake { command.timer.arm(at: wake.microseconds, accuracy: 1000) }
    if step == .giveUp {
      journal.notifyFailed(command.kind, command.app, "its process did not end after SIGKILL, and waits in the kernel")
      onGivenUp()
    }
  }

  private static func trouble(_ end: TaskEnd) -> String? {
    switch end.exit {
    case .exited(0): nil
    case .exited(let code): "it ended with exit code \(code)"
    case .signalled(let signal): "it was ended by \(signalName(signal))"
    case .notStarted(let reason): reason
    case .outOfMemory: "memory ran out"
    case .timedOut, .lostClient: "it took too long"
    }
  }
}

/// The standard input of `refresh-worker notify`.
private struct DesktopNotice: JSONWritable {
  let title: String
  let body: String

  func write(to json: inout JSONWriter) {
    json.beginObject()
    json.member("body", body)
    json.member("title", title)
    json.endObject()
  }
}
