import RefreshEngine
import Systemd

/// The part of the daemon that a ``CommandQueue`` runs commands for.
protocol CommandOwner<Purpose>: AnyObject {
  associatedtype Purpose

  /// Whether a command whose turn has come must still run; if not, it is dropped.
  func mayStart(_ command: QueuedCommand<Purpose>) -> Bool
  /// Handles a command that cannot be started, and the reason.
  func refused(_ command: QueuedCommand<Purpose>, _ reason: String)
  /// Handles a line that a command printed.
  func printed(_ line: String, by command: RunningCommand<Purpose>, _ run: RunID)
  /// Handles the deadline of a command, before SIGTERM.
  func late(_ command: RunningCommand<Purpose>)
  /// Handles a command that outlived SIGKILL.
  func stuck(_ command: RunningCommand<Purpose>)
  /// Handles the end of a command.
  func ended(_ command: RunningCommand<Purpose>, _ end: TaskEnd)
}

/// A queued command.
struct QueuedCommand<Purpose> {
  let purpose: Purpose
  let launch: TaskLaunch
  /// Whether it waits for the end of another command of its app.
  let isAlone: Bool
}

/// A running command.
struct RunningCommand<Purpose> {
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

/// How long commands may take, and how many run and queue.
struct CommandBounds {
  /// How long a command may take before SIGTERM.
  let deadline: Duration
  /// How many commands of one user's apps run at once.
  let mostOfUser: Int
  /// How many commands of one user's apps may queue before more are refused; nil if the owner of the commands bounds
  /// them.
  var mostWaiting: Int?
  /// The most characters of a kept line.
  var longestLine: Int?
}

/// Commands that run for apps besides their refreshes, a few at once for each user; the others queue.
///
/// A command gets SIGTERM at its deadline and SIGKILL after a grace. A command that outlives SIGKILL gives its turn to the
/// next.
final class CommandQueue<Purpose>: ProcessOwner {
  private unowned let core: DaemonCore
  private let processes: Processes
  private let bounds: CommandBounds
  private unowned let owner: any CommandOwner<Purpose>
  private var running: [ProcessKey: RunningCommand<Purpose>] = [:]
  /// The queued commands, by the user of their apps.
  private var waiting: [UInt32: [QueuedCommand<Purpose>]] = [:]

  init(_ core: DaemonCore, _ processes: Processes, _ bounds: CommandBounds, for owner: any CommandOwner<Purpose>) {
    (self.core, self.processes, self.bounds, self.owner) = (core, processes, bounds, owner)
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
  @discardableResult
  func removeWaiting(
    of user: UInt32, _ matches: (QueuedCommand<Purpose>) -> Bool
  ) -> [QueuedCommand<Purpose>] {
    guard let queue = waiting[user] else { return [] }
    let kept = queue.filter { !matches($0) }
    waiting[user] = kept.isEmpty ? nil : kept
    return kept.count == queue.count ? [] : queue.filter(matches)
  }

  func printed(_ line: String, by key: ProcessKey) {
    let line = bounds.longestLine.map { String(line.prefix($0)) } ?? line
    if !line.allSatisfy(\.isWhitespace) { running[key]?.lastLine = line }
    if let command = running[key] { owner.printed(line, by: command, key.run) }
  }

  /// Kills all commands, because the daemon stops.
  func killAll() {
    waiting = [:]
    for key in running.keys { processes.kill(key) }
  }

  /// Drops queued commands, because the daemon stops; ends the others by SIGTERM, and by SIGKILL after their grace.
  func endAll() {
    waiting = [:]
    for (key, command) in running where !command.ending.isBegun { takeStep(key) }
  }

  func ended(_ key: ProcessKey, _ end: TaskEnd) {
    guard let ended = running.removeValue(forKey: key) else { return }
    ended.timer.cancel()
    processes.release(key.run)
    owner.ended(ended, end)
    startWaiting(of: ended.owner)
    core.delegate.leaveIfDone()
  }

  /// Starts the commands of a user's apps whose turn has come; a command that outlived SIGKILL takes no turn.
  private func startWaiting(of user: UInt32) {
    while running.values.count(where: { $0.owner == user && !$0.isGivenUp }) < bounds.mostOfUser,
      let index = waiting[user]?.firstIndex(where: { !$0.isAlone || !isBusy($0.launch.app) }),
      let next = waiting[user]?.remove(at: index)
    {
      if waiting[user]?.isEmpty == true { waiting[user] = nil }
      if !core.engine.isStopping, owner.mayStart(next) { start(next) }
    }
  }

  /// Whether the command's app is still configured, with the owner that the command runs as.
  func isOfItsApp(_ command: QueuedCommand<Purpose>) -> Bool {
    core.configuration[command.launch.app]?.owner.uid == command.launch.owner.uid
  }

  private func isBusy(_ app: AppID) -> Bool {
    running.values.contains { $0.app == app && !$0.isGivenUp }
  }

  private func start(_ next: QueuedCommand<Purpose>) {
    let (key, launch) = (next.launch.key, next.launch)
    do throws(SystemdError) {
      let timer = try core.scheduler.timer { [unowned self] in boundPassed(key) }
      running[key] = RunningCommand(
        purpose: next.purpose, app: launch.app, owner: launch.owner.uid, timer: timer)
      core.scheduler.arm(timer, after: bounds.deadline, accuracy: 1000)
    } catch {
      return owner.refused(next, error.description)
    }
    processes.start(launch, for: self)
  }

  /// Takes the next step against a late command: SIGTERM, then SIGKILL.
  private func boundPassed(_ key: ProcessKey) {
    guard let command = running[key] else { return }
    if !command.isLate { owner.late(command) }
    takeStep(key)
  }

  /// Takes the next step in the end of a command.
  private func takeStep(_ key: ProcessKey) {
    guard var command = running[key] else { return }
    let step = command.ending.beginOrAdvance(at: core.now)
    running[key] = command
    if let step { processes.send(step, to: key) }
    if let wake = command.ending.wake { command.timer.arm(at: wake.microseconds, accuracy: 1000) }
    if step == .giveUp {
      owner.stuck(command)
      startWaiting(of: command.owner)
      core.delegate.leaveIfDone()
    }
  }
}
