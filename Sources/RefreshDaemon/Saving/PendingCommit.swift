import RefreshConfig
import RefreshEngine
import RefreshStore

/// The changes of apps and of the machine for the next commit, and the work that waits for it.
struct PendingCommit {
  /// An effect, with the configuration in force when the engine decided on it.
  struct Work {
    let effect: Effect
    let app: AppConfiguration?
  }

  /// A caller's wait for the commit.
  struct Promise {
    /// Called once: with the error, or with the pushes left out because they were accepted before.
    let conclude: (StoreError?, Set<PushID>) -> Void
    /// Called if the commit succeeds after its caller was refused, with the pushes left out.
    let storedLate: ((Set<PushID>) -> Void)?
  }

  /// What differs from the saved state.
  var changes = Changes()
  /// Whether the wall clock was set: a later boot reads this boot's instants by the last saved offset.
  private(set) var clockStepped = false
  /// Wall time minus boot time at the last decision, which dates the lines of the history.
  var wallOffset = Duration.zero
  /// Whether the commit must survive a loss of power although no caller waits for it: a file is complete, or an app was
  /// notified.
  var isDurable = false
  /// The effects to perform after the commit, in order.
  var work: [Work] = []
  /// Called after the commit, even a failed commit.
  var answers: [() -> Void] = []
  /// Called after a commit that survives a loss of power, or with its error.
  var promises: [Promise] = []

  var isToBeSaved: Bool { clockStepped || !promises.isEmpty || !changes.isEmpty }

  /// Whether the commit may wait for others: nothing starts or is answered after it, nothing has ended, and there is room
  /// for more openings.
  var canWait: Bool {
    !isDurable && !clockStepped && changes.history.refreshes.isEmpty && work.isEmpty && answers.isEmpty
      && promises.isEmpty && changes.history.openings.count < HistoryLines.most / 2
  }

  var isEmpty: Bool { !isToBeSaved && work.isEmpty && answers.isEmpty }

  /// Has the new offset saved; lines of the history that wait keep their wall times.
  mutating func clockWasSet(to offset: Duration) {
    clockStepped = true
    changes.history.keepWallTimes(whenSetBy: offset - wallOffset)
  }

  /// Adds the engine's decision.
  mutating func add(_ decision: Decision, app: (AppID) -> AppConfiguration?) {
    changes.merge(decision.changes)
    work += decision.effects.filter(\.isSavedFirst).map { Work(effect: $0, app: app($0.app)) }
  }

  /// Takes out the promises and answers, because the commit takes too long for their callers.
  mutating func takeCallers() -> (promises: [Promise], answers: [() -> Void]) {
    defer { answers = [] }
    return (takePromises(), answers)
  }

  mutating func takePromises() -> [Promise] {
    defer { promises = [] }
    return promises
  }
}

extension Effect {
  /// The app of the effect.
  var app: AppID {
    switch self {
    case .start(_, let app, _, _), .perform(_, let app, _, _), .startTask(_, let app, _), .warn(_, let app, _),
      .terminate(_, let app, _), .kill(_, let app), .reportStuck(_, let app), .reportEnd(_, let app),
      .transfer(_, let app), .stopTransfer(_, let app, _), .reportLeftUnit(let app, _):
      app
    case .reportStale(let run, _), .reportHeld(let run, _, _), .ask(let run), .keep(let run, _, _),
      .giveBack(let run, _, _):
      run.app
    }
  }

  /// Whether the effect waits for the commit of its decision, because it starts something or informs somebody.
  ///
  /// The other effects end a running task or let a refresh go on. They never wait for a disk.
  var isSavedFirst: Bool {
    switch self {
    case .start, .perform, .reportStale, .reportHeld, .reportEnd, .ask, .transfer, .stopTransfer, .keep,
      .reportLeftUnit:
      true
    case .giveBack(_, _, let isRunning): !isRunning
    case .startTask, .warn, .terminate, .kill, .reportStuck: false
    }
  }
}
