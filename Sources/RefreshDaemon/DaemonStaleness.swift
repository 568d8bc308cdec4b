import RefreshConfig
import RefreshEngine
import Systemd

/// The commands that tell of something, while they run: of stale data (FEATURES D8), of sessions that have ended (F8).
struct Tellings {
  /// What one tells of.
  enum Telling {
    case staleData
    case sessionEnded

    /// Its name in the journal.
    var name: String {
      switch self {
      case .staleData: "on_stale"
      case .sessionEnded: "notify"
      }
    }
  }

  /// How long such a command may take before it is asked to end, and after that before it is killed.
  static let deadline = Duration.seconds(30)
  static let grace = Duration.seconds(5)

  private struct Running {
    let app: AppID
    let telling: Telling
    let timer: TimerSource
    /// Whether it was asked to end.
    var isAsked = false
  }

  private var running: [TaskKey: Running] = [:]

  /// What runs.
  var keys: [TaskKey] { Array(running.keys) }

  /// Whose a command is, and what it tells of; nil for what is no such command.
  subscript(key: TaskKey) -> (AppID, Telling)? { running[key].map { ($0.app, $0.telling) } }

  /// Takes up a command, and the timer that bounds it.
  mutating func begin(_ key: TaskKey, _ app: AppID, _ timer: TimerSource, _ telling: Telling) {
    running[key] = Running(app: app, telling: telling, timer: timer)
  }

  /// Lets a command go on for so long.
  func arm(_ key: TaskKey, for bound: Duration) {
    running[key]?.timer.arm(at: (Moment.now().instant + bound).microseconds, accuracy: 1000)
  }

  /// Takes note that a command's time is up; gives whether that is so for the second time.
  mutating func passBound(_ key: TaskKey) -> Bool {
    let isAsked = running[key]?.isAsked ?? false
    running[key]?.isAsked = true
    return isAsked
  }

  /// Forgets a command that has ended, and gives whose it was and what it told of; nil for what is no such command.
  mutating func end(_ key: TaskKey) -> (AppID, Telling)? {
    guard let ended = running.removeValue(forKey: key) else { return nil }
    ended.timer.cancel()
    return (ended.app, ended.telling)
  }
}

extension Daemon {
  /// Tells the journal that an app's data is stale, and runs what its file wants to be run then.
  func tellStale(_ id: RefreshID, _ app: AppConfiguration, since: Instant) {
    let age = since.duration(to: Moment.now().instant)
    journal.dataIsStale(of: app.id, age: age, limit: app.policy.staleAfter)
    guard let command = app.onStale, !engine.isStopping else { return }
    let key = TaskKey(refresh: id, task: 0)
    do throws(SystemdError) {
      let timer = try loop.timer { self.endTelling(key) }
      tellings.begin(key, app.id, timer, .staleData)
      tellings.arm(key, for: Tellings.deadline)
    } catch {
      return journal.cannotTell(.staleData, app.id, "\(error)")
    }
    launcher.start(
      TaskLaunch(
        key: key, app: app.id, command: command, owner: app.owner,
        environment: environment.variables(ofTelling: command, app: app, id: id, age: age),
        description: "\(app.name): on_stale", timeLimit: Tellings.deadline, grace: Tellings.grace,
        properties: app.sandbox.map(UnitProperty.init), input: nil, changedPath: nil))
  }

  /// A command that tells has taken too long: first it is asked to end, then it is killed.
  func endTelling(_ key: TaskKey) {
    guard !tellings.passBound(key) else { return launcher.kill(key) }
    launcher.terminate(key)
    tellings.arm(key, for: Tellings.grace)
  }

  /// Takes note of the end of a task, of a worker, or of a command that tells of something.
  func takeEnd(_ key: TaskKey, _ end: TaskEnd) {
    guard let (app, telling) = tellings.end(key) else {
      if !takeEnd(ofWorker: key, end) { handle(.taskEnded(key.refresh, task: key.task, end)) }
      return
    }
    launcher.release(key.refresh)
    switch end.exit {
    case .exited(0): break
    case .exited(let code): journal.cannotTell(telling, app, "it ended with exit code \(code)")
    case .signalled(let signal): journal.cannotTell(telling, app, "it was ended by signal \(signal)")
    case .notStarted(let reason): journal.cannotTell(telling, app, reason)
    case .outOfMemory: journal.cannotTell(telling, app, "memory ran out")
    case .timedOut, .lostClient: journal.cannotTell(telling, app, "it took too long")
    }
    leaveIfDone()
  }
}
