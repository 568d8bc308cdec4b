import RefreshEngine

/// A task's process with its children, and its future behaviour.
struct Process: Sendable {
  /// The reaction to SIGTERM.
  enum Reaction: Sendable {
    /// It ends after this time, by the signal or, after cleaning up, with exit 0.
    case ends(after: Duration, TaskEnd.Exit)
    /// It ignores SIGTERM.
    case ignores
  }

  let refresh: RefreshID
  let app: AppID
  let task: Int
  /// Whether it is the app's own attached process.
  private(set) var isAttached = false
  /// When it started, in time since the simulation began.
  private(set) var startedAt: Duration?
  /// The time of its end, since the simulation began; nil if it hangs.
  var endsAt: Duration?
  var end: TaskEnd
  /// The future reports over the socket with their times, the earliest first.
  var says: [(at: Duration, outcome: Outcome)]
  let onTerminate: Reaction
  /// How long SIGKILL takes, for example because the process waits for a disk.
  let dying: Duration

  /// The time of its next action.
  var next: Duration? {
    guard let said = says.first?.at else { return endsAt }
    return endsAt.map { min($0, said) } ?? said
  }

  /// Draws a process of a task that is given until `deadline` after `now`.
  init(
    _ refresh: RefreshID, _ app: AppID, task: Int, deadline: Duration, now: Duration, isHealed: Bool,
    _ chance: inout Chance
  ) {
    (self.refresh, self.app, self.task) = (refresh, app, task)
    guard !isHealed else {
      (endsAt, end, says) = (now, TaskEnd(exit: .exited(0), printed: true, changed: true), [])
      (onTerminate, dying) = (.ends(after: .zero, .signalled(15)), .zero)
      return
    }
    let exits: [TaskEnd.Exit] = [
      .exited(0), .exited(0), .exited(100), .exited(75), .exited(1), .exited(3), .signalled(11),
    ]
    let exit = chance.pick(exits)
    end = TaskEnd(
      exit: chance.happens(3) ? .notStarted("no such program") : exit, printed: chance.happens(50),
      changed: chance.happens(50), cpu: chance.duration(.zero ... .seconds(1)))
    switch chance.number(below: 10) {
    case 0, 1: endsAt = nil
    case 2: endsAt = now
    case 3: endsAt = now + deadline
    case 4: endsAt = now + chance.duration(deadline...deadline * 3)
    default: endsAt = now + chance.duration(.zero...min(deadline, .seconds(20)))
    }
    if case .notStarted = end.exit { endsAt = now }
    says = []
    while chance.happens(20) {
      let outcome = chance.pick([Outcome.newData, .noData, .failed(.reported("no server"))])
      says.append((at: now + chance.duration(.zero...deadline + .seconds(10)), outcome: outcome))
    }
    says.sort { $0.at < $1.at }
    onTerminate = chance.pick([
      .ends(after: .zero, .signalled(15)), .ends(after: chance.duration(.zero ... .seconds(8)), .signalled(15)),
      .ends(after: chance.duration(.zero ... .seconds(2)), .exited(0)), .ignores,
    ])
    dying = chance.happens(80) ? .zero : chance.duration(.zero ... .seconds(30))
  }

  /// The same behaviour as the app's own process, which reports only the outcome.
  var attached: Process {
    var process = self
    process.isAttached = true
    process.says = []
    return process
  }

  /// Makes the service manager stop it at an instant; `start` is its start.
  mutating func bound(at instant: Duration, since start: Duration) {
    startedAt = start
    end(by: instant, .timedOut)
  }

  mutating func terminate(at now: Duration) {
    guard case .ends(let delay, let exit) = onTerminate else { return }
    end(by: now + delay, exit)
  }

  mutating func kill(at now: Duration) {
    end(by: isAttached ? now : now + dying, isAttached ? .lostClient : .signalled(9))
  }

  mutating func freeze(for length: Duration) {
    endsAt = endsAt.map { $0 + length }
    for index in says.indices { says[index].at += length }
  }

  private mutating func end(by instant: Duration, _ exit: TaskEnd.Exit) {
    if let endsAt, endsAt <= instant { return }
    endsAt = instant
    end.exit = exit
  }
}
