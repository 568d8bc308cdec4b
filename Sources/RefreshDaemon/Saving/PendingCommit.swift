import RefreshConfig
import RefreshEngine
import RefreshStore

/// The changes of apps and of the machine for the next commit, and the work that waits for it.
struct PendingCommit {
  /// An effect, with the configuration that was in force when the engine decided on it.
  struct Work {
    let effect: Effect
    let app: AppConfiguration?
  }

  /// A caller's wait for the commit.
  struct Promise {
    /// Called once: why nothing was saved, or the pushes left out because they were accepted before.
    let conclude: (StoreError?, Set<PushID>) -> Void
    /// Called if the commit took so long that the caller was refused, and succeeded after that, with the same pushes.
    let storedLate: ((Set<PushID>) -> Void)?
  }

  var changed: Set<AppID> = []
  /// Whether the wall clock was set: a later boot reads this boot's instants by the last saved offset.
  var clockStepped = false
  /// Whether the state of the machine is to be saved.
  var deviceChanged = false
  /// The apps of which the engine learnt more.
  var learned: Set<AppID> = []
  /// The ends of refreshes, and the openings of apps.
  var history = HistoryAdditions()
  /// The apps of which the history forgets the openings that desktops showed; false for those that keep them after all.
  var openingsForgotten: [AppID: Bool] = [:]
  /// The apps of which nothing is kept.
  var erased: Set<AppID> = []
  /// Whether the commit must survive a loss of power although nobody waits for it: a file is complete, or an app was
  /// notified.
  var isDurable = false
  /// The effects to perform after the commit, in order.
  var work: [Work] = []
  /// Called after the commit, whether it failed or not.
  var answers: [() -> Void] = []
  /// Called after a commit that survives a loss of power, or with the reason why there was none.
  var promises: [Promise] = []

  var isToBeSaved: Bool {
    !changed.isEmpty || deviceChanged || clockStepped || !learned.isEmpty || history != HistoryAdditions()
      || !promises.isEmpty || !erased.isEmpty
  }

  /// Whether the commit may wait for others: nothing is started or answered after it, nothing has ended, and there is
  /// room for more openings.
  var canWait: Bool {
    !isDurable && !clockStepped && history.refreshes.isEmpty && work.isEmpty && answers.isEmpty && promises.isEmpty
      && history.openings.count < HistoryAdditions.most / 2
  }

  var isEmpty: Bool { !isToBeSaved && work.isEmpty && answers.isEmpty }

  /// Adds what the engine decided.
  mutating func add(_ decision: Decision, at now: Instant, app: (AppID) -> AppConfiguration?) {
    if !decision.erased.isEmpty { drop(decision.erased) }
    erased.subtract(decision.kept)
    changed.formUnion(decision.changed)
    deviceChanged = deviceChanged || decision.deviceChanged || decision.deviceLearned
    learned.formUnion(decision.learned)
    history.append(HistoryAdditions(decision))
    openingsForgotten.merge(decision.openingsForgotten) { _, later in later }
    erased.formUnion(decision.erased)
    work += decision.effects.filter(\.isSavedFirst).map { Work(effect: $0, app: app($0.app)) }
  }

  /// Drops what was to be saved of apps of which nothing is kept.
  private mutating func drop(_ apps: Set<AppID>) {
    changed.subtract(apps)
    learned.subtract(apps)
    history.remove(apps)
  }

  /// Takes the promises and answers out: the commit takes too long for their callers.
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
  /// The app that the effect is about.
  var app: AppID {
    switch self {
    case .start(_, let app, _, _), .perform(_, let app, _, _), .startTask(_, let app, _), .warn(_, let app, _),
      .terminate(_, let app, _), .kill(_, let app), .reportStuck(_, let app), .reportStale(_, let app, _),
      .reportHeld(_, let app, _, _), .ask(_, let app, _), .transfer(_, let app), .stopTransfer(_, let app, _),
      .reportEnd(_, let app), .keep(_, let app, _, _), .giveBack(_, let app, _, _), .reportLeftUnit(let app, _):
      app
    }
  }

  /// Whether it waits until the decision behind it is saved, because it starts something or tells somebody.
  ///
  /// The others end or go on with what runs already. They never wait for a disk.
  var isSavedFirst: Bool {
    switch self {
    case .start, .perform, .reportStale, .reportHeld, .reportEnd, .ask, .transfer, .stopTransfer, .keep,
      .reportLeftUnit:
      true
    case .giveBack(_, _, _, let isRunning): !isRunning
    case .startTask, .warn, .terminate, .kill, .reportStuck: false
    }
  }
}
