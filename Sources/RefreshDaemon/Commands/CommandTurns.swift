import RefreshEngine
import Systemd

/// Commands that run for apps beside their refreshes, few of each user's apps at once; the others wait for their turn.
///
/// Each is bounded in time: at its deadline it is asked to end, and killed after a grace. A command that no signal ends
/// gives its turn to the next one. The part of the daemon that has the commands is told of each end by its handlers,
/// set once.
final class CommandTurns<Purpose> {
  struct TurnBounds {
    /// How long a command may take before it is asked to end.
    let deadline: Duration
    /// How many commands of the apps of one user run at once.
    let mostOfUser: Int
    /// How many commands of the apps of one user may wait, and more are not taken; nil where that part bounds them
    /// itself.
    var mostWaiting: Int?
  }

  /// A command that waits for its turn.
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
    /// The last line with any text that it printed; empty for none.
    fileprivate(set) var lastLine = ""
    fileprivate let timer: any WakeTimer
    fileprivate var ending = TerminationSequence(grace: TerminationSequence.shortGrace)

    /// Whether it has taken longer than its deadline.
    var isLate: Bool { ending.isBegun }
    /// Whether it outlived SIGKILL.
    var isGivenUp: Bool { ending.isGivenUp }
  }

  private unowned let core: DaemonCore
  private let launcher: any Launcher
  private let bounds: TurnBounds
  private var running: [TaskKey: Running] = [:]
  /// The commands that wait for their turn, by the user of their apps.
  private var waiting: [UInt32: [QueuedCommand]] = [:]

  /// Asked when the turn of a command has come: whether it is to run still; if not, it is dropped.
  var mayStart: (QueuedCommand) -> Bool = { _ in true }
  /// Called with a command that cannot be started, and the reason.
  var onRefused: (QueuedCommand, String) -> Void = { _, _ in }
  /// Called at the deadline of a command, which is asked to end.
  var onLate: (TaskKey, Running) -> Void = { _, _ in }
  /// Called when a command outlived SIGKILL.
  var onStuck: (Running) -> Void = { _ in }
  /// Called at the end of a command.
  var onEnd: (TaskKey, Running, TaskEnd) -> Void = { _, _, _ in }

  init(_ core: DaemonCore, _ ports: Ports, _ bounds: TurnBounds) {
    (self.core, self.bounds) = (core, bounds)
    launcher = ports.launcher
  }

  /// Whether no command is left, apart from those that no signal ends.
  var isEmpty: Bool { running.values.allSatisfy(\.isGivenUp) }

  /// Whether a command of the app outlived SIGKILL.
  func isStuck(_ app: AppID) -> Bool { running.values.contains { $0.app == app && $0.isGivenUp } }

  /// Has a command run when its turn comes; false if too many of its user wait.
  ///
  /// - Parameter isAlone: whether it waits for the end of another command of its app.
  func add(_ purpose: Purpose, _ launch: TaskLaunch, isAlone: Bool = true) -> Bool {
    let user = launch.owner.uid
    if let most = bounds.mostWaiting, waiting[user, default: []].count >= most { return false }
    waiting[user, default: []].append(QueuedCommand(purpose: purpose, launch: launch, isAlone: isAlone))
    startWaiting(of: user)
    return true
  }

  /// Takes the commands of a user's apps that match out of those that wait for their turn.
  @discardableResult func removeWaiting(of user: UInt32, _ matches: (QueuedCommand) -> Bool) -> [QueuedCommand] {
    guard let queue = waiting[user] else { return [] }
    let kept = queue.filter { !matches($0) }
    waiting[user] = kept.isEmpty ? nil : kept
    return kept.count == queue.count ? [] : queue.filter(matches)
  }

  /// Keeps a line that a command printed, and gives the command; nil if the task is none of these.
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

  /// Asks all commands to end, because the daemon stops, and kills them after their grace; none that waits starts.
  func endAll() {
    waiting = [:]
    for (key, command) in running where !command.ending.isBegun { takeStep(key) }
  }

  /// Handles the end of a command; false if the task is none of these.
  func end(_ key: TaskKey, _ end: TaskEnd) -> Bool {
    guard let ended = running.removeValue(forKey: key) else { return false }
    ended.timer.cancel()
    launcher.release(key.refresh)
    onEnd(key, ended, end)
    startWaiting(of: ended.owner)
    return true
  }

  /// Starts the commands of a user's apps whose turn has come; a command that no signal ends is in nobody's way.
  private func startWaiting(of user: UInt32) {
    while running.values.count(where: { $0.owner == user && !$0.isGivenUp }) < bounds.mostOfUser,
      let index = waiting[user]?.firstIndex(where: { !$0.isAlone || !isBusy($0.launch.app) }),
      let next = waiting[user]?.remove(at: index)
    {
      if waiting[user]?.isEmpty == true { waiting[user] = nil }
      if !core.engine.isStopping, mayStart(next) { start(next) }
    }
  }

  /// Whether the app of a command is configured still, with the owner that the command runs as.
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

  /// A command has taken too long: first it is asked to end, then it is killed.
  private func boundPassed(_ key: TaskKey) {
    guard let command = running[key] else { return }
    if !command.isLate { onLate(key, command) }
    takeStep(key)
  }

  /// Takes the next step of the end of a command.
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
