import RefreshEngine
import Systemd

/// Commands that run for apps besides their refreshes, a few at once for each user; the others queue.
///
/// A command gets SIGTERM at its deadline and SIGKILL after a grace. A command that outlives SIGKILL gives its turn to the
/// next. The owner of the commands sets a handler for each event once.
final class CommandTurns<Purpose> {
  struct TurnBounds {
    /// How long a command may take before SIGTERM.
    let deadline: Duration
    /// How many commands of one user's apps run at once.
    let mostOfUser: Int
    /// How many commands of one user's apps may queue before more are refused; nil if the owner of the commands bounds
    /// them.
    var mostWaiting: Int?
  }

  /// A queued command.
  struct QueuedCommand {
    let purpose: Purpose
    let launch: TaskLaunch
    /// Whether it waits for the end of another command of its app.
    let isAlone: Bool
  }

  struct Running {
    let purpose: Purpose
    let app: AppID
    let owner: UInt32
    /// The last printed line with any text; empty for none.
    fileprivate(set) var lastLine = ""
    fileprivate let timer: any WakeTimer
    fileprivate var ending = TerminationSequence(grace: TerminationSequence.shortGrace)

    /// Whether its deadline has passed.
    var isLate: Bool { ending.isBegun }
    /// Whether it outlived SIGKILL.
    var isGivenUp: Bool { ending.isGivenUp }
  }

  private unowned let core: DaemonCore
  private let launcher: any Launcher
  private let bounds: TurnBounds
  private var running: [TaskKey: Running] = [:]
  /// The queued commands, by the user of their apps.
  private var waiting: [UInt32: [QueuedCommand]] = [:]

  /// Asks whether a command whose turn has come must still run; if not, it is dropped.
  var mayStart: (QueuedCommand) -> Bool = { _ in true }
  /// Called with a command that cannot be started, and with the reason.
  var onRefused: (QueuedCommand, String) -> Void = { _, _ in }
  /// Called at the deadline of a command, before SIGTERM.
  var onLate: (TaskKey, Running) -> Void = { _, _ in }
  /// Called when a command outlived SIGKILL.
  var onStuck: (Running) -> Void = { _ in }
  /// Called at the end of a command.
  var onEnd: (TaskKey, Running, TaskEnd) -> Void = { _, _, _ in }

  init(_ core: DaemonCore, _ ports: Ports, _ bounds: TurnBounds) {
    (self.core, self.bounds) = (core, bounds)
    launcher = ports.launcher
  }

  /// Whether no command is left, except commands that outlived SIGKILL.
  var isEmpty: Bool { running.values.allSatisfy(\.isGivenUp) }

  /// Whether a command of the app outlived SIGKILL.
  func isStuck(_ app: AppID) -> Bool { running.values.contains { $0.app == app && $0.isGivenUp } }

  /// Queues a command; false if too many commands of its user wait.
  ///
  /// If `isAlone`, the command waits for the end of another command of its app.
  func add(_ purpose: Purpose, _ launch: TaskLaunch, isAlone: Bool = true) -> Bool {
    let user = launch.owner.uid
    if let most = bounds.mostWaiting, waiting[user, default: []].count >= most { return false }
    waiting[user, default: []].append(QueuedCommand(purpose: purpose, launch: launch, isAlone: isAlone))
    startWaiting(of: user)
    return true
  }

  /// Removes and returns the matching queued commands of a user's apps.
  @discardableResult func removeWaiting(of user: UInt32, _ matches: (QueuedCommand) -> Bool) -> [QueuedCommand] {
    guard let queue = waiting[user] else { return [] }
    let kept = queue.filter { !matches($0) }
    waiting[user] = kept.isEmpty ? nil : kept
    return kept.count == queue.count ? [] : queue.filter(matches)
  }

  /// Keeps a line that a command printed, and returns the command; nil if no command has the task.
  func receive(_ line: String, of key: TaskKey) -> Running? {
    guard running[key] != nil else { return nil }
    if !line.allSatisfy(\.isWhitespace) { running[key]?.lastLine = line }
    return running[key]
  }

  /// Kills all commands, because the daemon stops.
  func killAll() {
    waiting = [:]
    for key in running.keys { launcher.kill(key) }
  }

  /// Drops queued commands, because the daemon stops; ends the others by SIGTERM, and by SIGKILL after their grace.
  func endAll() {
    waiting = [:]
    for (key, command) in running where !command.ending.isBegun { takeStep(key) }
  }

  /// Handles the end of a command; false if no command has the task.
  func end(_ key: TaskKey, _ end: TaskEnd) -> Bool {
    guard let ended = running.removeValue(forKey: key) else { return false }
    ended.timer.cancel()
    launcher.release(key.refresh)
    onEnd(key, ended, end)
    startWaiting(of: ended.owner)
    return true
  }

  /// Starts the commands of a user's apps whose turn has come; a command that outlived SIGKILL takes no turn.
  private func startWaiting(of user: UInt32) {
    while running.values.count(where: { $0.owner == user && !$0.isGivenUp }) < bounds.mostOfUser,
      let index = waiting[user]?.firstIndex(where: { !$0.isAlone || !isBusy($0.launch.app) }),
      let next = waiting[user]?.remove(at: index)
    {
      if waiting[user]?.isEmpty == true { waiting[user] = nil }
      if !core.engine.isStopping, mayStart(next) { start(next) }
    }
  }

  /// Whether the command's app is still configured, with the owner that the command runs as.
  func isOfItsApp(_ command: QueuedCommand) -> Bool {
    core.configuration[command.launch.app]?.owner.uid == command.launch.owner.uid
  }

  private func isBusy(_ app: AppID) -> Bool {
    running.values.contains { $0.app == app && !$0.isGivenUp }
  }

  private func start(_ next: QueuedCommand) {
    let (key, launch) = (next.launch.key, next.launch)
    do throws(SystemdError) {
      let timer = try core.scheduler.timer { [unowned self] in boundPassed(key) }
      running[key] = Running(purpose: next.purpose, app: launch.app, owner: launch.owner.uid, timer: timer)
      core.scheduler.arm(timer, after: bounds.deadline, accuracy: 1000)
    } catch {
      return onRefused(next, error.description)
    }
    launcher.start(launch)
  }

  /// Takes the next step against a late command: SIGTERM, then SIGKILL.
  private func boundPassed(_ key: TaskKey) {
    guard let command = running[key] else { return }
    if !command.isLate { onLate(key, command) }
    takeStep(key)
  }

  /// Takes the next step in the end of a command.
  private func takeStep(_ key: TaskKey) {
    guard var command = running[key] else { return }
    let step = command.ending.beginOrAdvance(at: core.now)
    running[key] = command
    if let step { launcher.send(step, to: key) }
    if let wake = command.ending.wake { command.timer.arm(at: wake.microseconds, accuracy: 1000) }
    if step == .giveUp {
      onStuck(command)
      startWaiting(of: command.owner)
    }
  }
}
