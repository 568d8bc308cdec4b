import RefreshConfig
import RefreshEngine
import RefreshStore
import Systemd

/// A part of the daemon whose state is saved with the next commit.
protocol SavedPart: AnyObject {
  /// Whether this part has something to save.
  var hasChanges: Bool { get }
  /// Moves the changes since the last call into a batch.
  func moveChanges(into batch: inout Batch)
  /// Marks everything as changed, because the store has begun a new, empty file.
  func markAllChanged()
}

/// Saves changes in one transaction, and after the commit, even a failed one, has effects performed and callers answered.
///
/// A signal to a running task never waits for the disk. A commit that takes too long is a problem of the store, and later
/// its waiting calls are refused. Until the disk answers nothing starts, and everything else goes on.
final class Saving {
  /// The wait between a failed commit and the next, unless something else causes a commit.
  private static let retryAfter = Duration.seconds(10)
  /// How long a change of phase may wait for others to share its commit, at least and at most.
  ///
  /// In between it waits ten times as long as the last commit took: a fleet of apps changes faster than a disk. So phases
  /// keep the disk busy for a tenth of the time.
  private static let gathering = Duration.milliseconds(5)...Duration.milliseconds(100)
  /// How long a commit may take before it is a problem of the store.
  static let patience = Duration.seconds(2)
  /// How long a commit may take before the calls that wait for it are refused.
  static let callersPatience = Duration.seconds(8)

  private unowned let core: DaemonCore
  private let ports: Ports
  private let path: String
  /// Reads the store within a bound.
  private(set) lazy var reads = StoreReads(core, ports.store, path: path, for: self)
  /// The parts with state to save; set once.
  var parts: [any SavedPart] = []
  /// Why the store cannot be written; the daemon goes on in memory until it can.
  private(set) var problem: StoreError?

  private var pending = PendingCommit()
  /// The commit that the store is saving; nil without one.
  private var underWay: PendingCommit?
  private var beganAt = Instant(microseconds: 0)
  /// How long the last commit took.
  private var lastTook = Duration.zero
  /// The calls that were refused while the store was saving their commit, in case it succeeds.
  private var refused: [PendingCommit.Promise] = []
  /// Why calls cannot wait for the disk: the present commit takes too long.
  private(set) var refusal: StoreError?
  private var isCommitting = false
  private var isCommitDue = false
  /// Starts a commit that waits for others, or retries a failed commit.
  private var timer: (any WakeTimer)?
  /// Goes off when the present commit takes too long.
  private var bound: (any WakeTimer)?
  /// The ended refreshes whose tasks the launcher keeps until their ends are saved.
  private var unreleased: [RefreshID] = []

  init(_ core: DaemonCore, _ ports: Ports, path: String) {
    (self.core, self.ports, self.path) = (core, ports, path)
  }

  func open() throws(SystemdError) {
    timer = try core.scheduler.timer { [unowned self] in commitNow() }
    bound = try core.scheduler.timer { [unowned self] in boundPassed() }
    try reads.open()
  }

  /// Whether nothing is left to save, perform or answer.
  var isEmpty: Bool { pending.isEmpty && !parts.contains(where: \.hasChanges) }

  /// Whether nothing is left and no commit is going on.
  var isIdle: Bool { isEmpty && underWay == nil }

  /// Takes a decision into the next commit, with what the parts add to it.
  func take(_ decision: Decision, with additions: CommitAdditions, on event: Event, at now: Instant) {
    if additions.isDurable { requireDurable() }
    for answer in additions.answers { afterCommit(answer) }
    if case .clockStepped(let offset) = event { pending.clockWasSet(to: offset) }
    pending.wallOffset = core.engine.wallOffset
    pending.add(decision) { core.configuration[$0] }
    let urgent = decision.effects.filter { !$0.isSavedFirst }.map { PendingCommit.Work(effect: $0, app: nil) }
    if !urgent.isEmpty { core.scheduler.soon { [core] in core.delegate.perform(urgent) } }
    commitIfNeeded()
  }

  /// Calls back when everything until now is on the disk, or with the error.
  ///
  /// Calls `storedLate` if the caller was refused, and the disk has saved it after all.
  func promise(
    _ conclude: @escaping (StoreError?, Set<PushID>) -> Void, storedLate: ((Set<PushID>) -> Void)? = nil
  ) {
    if let refusal { return conclude(refusal, []) }
    pending.promises.append(PendingCommit.Promise(conclude: conclude, storedLate: storedLate))
    commitSoon()
  }

  /// Has an answer given after the next commit; ``take(_:with:on:at:)`` or the caller starts that commit.
  func afterCommit(_ answer: @escaping () -> Void) {
    if refusal == nil { pending.answers.append(answer) } else { answer() }
  }

  /// Has changes saved with the next commit that no event has caused.
  func add(_ changes: Changes) { pending.changes.merge(changes) }

  /// Makes the next commit survive a loss of power.
  func requireDurable() { pending.isDurable = true }

  /// Starts a commit if anything is left to commit.
  func commitIfNeeded() {
    if !isEmpty { commitSoon() }
  }

  /// Has everything pending saved and performed, after the present commit.
  ///
  /// Effects of a decision that changed nothing need no commit, but keep their turn behind the present one. A commit
  /// without waiting callers may wait a moment.
  func commitSoon() {
    guard !isCommitting else {
      // A daemon that stops does not wait for a hanging disk.
      if refusal != nil { core.scheduler.soon { [core] in core.delegate.leaveIfDone() } }
      return
    }
    if !isToBeSaved && problem == nil {
      performAndAnswer(takePending())
      return core.delegate.leaveIfDone()
    }
    guard mayGather else { return commitNow() }
    guard !isCommitDue else { return }
    isCommitDue = true
    let wait = min(max(lastTook * 10, Self.gathering.lowerBound), Self.gathering.upperBound)
    core.scheduler.arm(timer, after: wait, accuracy: 1000)
  }

  /// Handles an error of a read: if the file was damaged and set aside, everything known goes into the new file.
  func readFailed(_ problem: StoreError) {
    // `status` and the journal already report a silent disk.
    if problem.code != .unanswered || self.problem == nil, reads.isNews(problem) { ports.journal.cannotRead(problem) }
    saveAllAfter(problem)
    commitIfNeeded()
  }

  /// Whether the next commit may wait for other changes.
  private var mayGather: Bool { pending.canWait && problem == nil && !core.engine.isStopping }

  private var isToBeSaved: Bool { pending.isToBeSaved || parts.contains(where: \.hasChanges) }

  private func commitNow() {
    isCommitDue = false
    guard !isCommitting else { return }
    isCommitting = true
    core.scheduler.soon { self.commit() }
  }

  /// Saves and performs until nothing is left; changes during a commit go into the next.
  private func commit() {
    repeat {
      guard isToBeSaved || problem != nil else {
        complete(takePending(), nil, [])
        continue
      }
      let batch = makeBatch()
      let commit = takePending()
      (underWay, beganAt) = (commit, batch.now)
      core.scheduler.arm(bound, after: Self.patience, accuracy: 1000)
      return ports.store.save(batch, durably: commit.isDurable || !commit.promises.isEmpty) { self.saved($0) }
    } while !isEmpty
    becomeIdle()
  }

  /// Handles the store's answer.
  private func saved(_ result: Result<Set<PushID>, StoreError>) {
    guard let commit = underWay else { return }
    bound?.disarm()
    (underWay, refusal) = (nil, nil)
    var (problem, known): (StoreError?, Set<PushID>) = (nil, [])
    switch result {
    case .success(let pushes): known = pushes
    case .failure(let error): problem = error
    }
    lastTook = beganAt.duration(to: core.now)
    core.tally.noteWrite(took: lastTook, failed: problem != nil)
    let late = refused
    refused = []
    if problem == nil { for promise in late { promise.storedLate?(known) } }
    // A new file gets everything at once; if it is damaged again, after the pause.
    let isDamagedAgain = problem?.isSetAside == true && self.problem?.isSetAside == true
    complete(commit, problem, known)
    guard isEmpty || isDamagedAgain || mayGather else { return self.commit() }
    becomeIdle()
    if mayGather { commitIfNeeded() }
  }

  /// Handles a commit that takes too long: first as a problem of the store, then its callers are refused.
  private func boundPassed() {
    guard underWay != nil else { return }
    report(.unanswered(.save, path: path, after: Self.patience))
    guard beganAt + Self.callersPatience <= core.now else {
      return core.scheduler.arm(
        bound, after: core.now.duration(to: beganAt + Self.callersPatience), accuracy: 1000)
    }
    refuseCallers()
  }

  /// Fails waiting calls, newest first, so that undo restores the first state.
  ///
  /// Until the disk answers, no call waits any more.
  private func refuseCallers() {
    let problem = StoreError.unanswered(.save, path: path, after: Self.callersPatience)
    refusal = problem
    let (inStore, next) = (underWay?.takeCallers(), pending.takeCallers())
    refused += inStore?.promises ?? []
    for promise in ((inStore?.promises ?? []) + next.promises).reversed() { promise.conclude(problem, []) }
    for answer in (inStore?.answers ?? []) + next.answers { answer() }
    // If the disk has saved a refused change after all, it must be undone there at once.
    pending.isDurable = true
    core.delegate.leaveIfDone()
  }

  private func becomeIdle() {
    isCommitting = false
    core.delegate.leaveIfDone()
  }

  private func takePending() -> PendingCommit {
    defer { pending = PendingCommit() }
    return pending
  }

  private func makeBatch() -> Batch {
    var batch = Batch(pending.changes, of: core.engine, at: core.now)
    for part in parts { part.moveChanges(into: &batch) }
    // The forgotten URLs of a removed file would make a row of the app again.
    for app in pending.changes.erased { batch.validators[app] = nil }
    return batch
  }

  /// Concludes a commit: the promises of its callers, its effects and its answers.
  private func complete(_ commit: PendingCommit, _ problem: StoreError?, _ known: Set<PushID>) {
    handle(problem)
    unreleased += commit.changes.history.refreshes.map(\.id)
    if problem == nil {
      if !commit.changes.erased.isEmpty { core.delegate.erased(commit.changes.erased) }
      for refresh in unreleased { ports.processes.release(refresh.run) }
      unreleased = []
    }
    var promises = commit.promises
    if problem != nil {
      // The store saves this batch with the next.
      pending.isDurable = pending.isDurable || commit.isDurable
      // Refused changes are undone, newest first. The next commit's changes were made on top of them, and would be undone
      // with them without their callers' knowledge.
      promises = (promises + pending.takePromises()).reversed()
    }
    for promise in promises { promise.conclude(problem, known) }
    performAndAnswer(commit)
  }

  /// Answers the waiting calls, and has ``Daemon`` perform the effects: here a decided start becomes a process.
  private func performAndAnswer(_ commit: PendingCommit) {
    for answer in commit.answers { answer() }
    core.delegate.perform(commit.work)
  }

  /// Arms the retry of a failed commit; reports once that writing fails, and once that it works again.
  private func handle(_ problem: StoreError?) {
    if let problem {
      core.scheduler.arm(timer, after: Self.retryAfter, accuracy: 1_000_000)
      saveAllAfter(problem)
    }
    report(problem)
  }

  private func report(_ problem: StoreError?) {
    guard self.problem != problem else { return }
    self.problem = problem
    if let problem { ports.journal.cannotWrite(problem) } else { ports.journal.writesAgain() }
    core.delegate.statusChanged()
  }

  private func saveAllAfter(_ problem: StoreError) {
    guard problem.isSetAside else { return }
    // Includes apps without a file, because their files may come back.
    let apps = core.engine.knownApps
    pending.changes.apps.formUnion(apps)
    pending.changes.learned.formUnion(apps)
    pending.changes.device = [.pause, .habits]
    for part in parts { part.markAllChanged() }
  }
}

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
