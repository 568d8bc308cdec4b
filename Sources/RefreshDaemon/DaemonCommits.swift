import RefreshEngine
import RefreshStore
import Systemd

// Saving what the engine changed, and what waits for it.

extension Daemon {
  /// How long after a failed commit the next one is tried, if nothing else brings one.
  private static let retryAfter = Duration.seconds(10)
  /// How long a change of phase may wait for others to share its commit: a fleet of apps changes faster than a disk.
  private static let gathering = Duration.milliseconds(5)

  /// Handles events and calls back when what they changed is on disk, or why it is not.
  func handleDurably(_ events: [Event], then promise: @escaping (StoreError?) -> Void) {
    keepingRuns { for event in events { handle(event) } }
    pending.promises.append(promise)
    commitSoon()
  }

  /// Has what is pending saved and performed, after what is under way already.
  ///
  /// What the engine did not change needs no commit, but keeps its place behind one that is under way; what nobody waits
  /// for waits a moment.
  func commitSoon() {
    guard !isCommitting else { return }
    if !pending.isToBeSaved && storeProblem == nil { return perform() }
    guard pending.canWait, storeProblem == nil, !engine.isStopping else { return commitNow() }
    guard !isCommitDue else { return }
    isCommitDue = true
    commitTimer?.arm(at: (Moment.now().instant + Self.gathering).microseconds, accuracy: 1000)
  }

  /// Has what is pending saved and performed, or, if a commit is under way, after that.
  func commitNow() {
    isCommitDue = false
    guard !isCommitting else { return }
    isCommitting = true
    Task { await self.commit() }
  }

  /// Saves and performs until nothing is left; what comes while a commit is under way makes the next one.
  private func commit() async {
    repeat {
      let turn = pending
      pending = Pending()
      let (problem, known) = await save(turn)
      note(problem)
      unreleased += turn.ended.map(\.id)
      if problem == nil {
        for refresh in unreleased { launcher.release(refresh) }
        unreleased = []
      }
      for promise in turn.promises { promise(problem) }
      for arrival in turn.arrivals { arrival.then(problem, known) }
      finish(turn)
    } while !pending.isEmpty
    isCommitting = false
    leaveIfDone()
  }

  private func perform() {
    let turn = pending
    pending = Pending()
    finish(turn)
    leaveIfDone()
  }

  private func finish(_ turn: Pending) {
    for answer in turn.answers { answer() }
    for work in turn.work { perform(work) }
    giveOrders()
  }

  /// Saves a turn; gives why it could not be, and the pushes that were taken before.
  private func save(_ turn: Pending) async -> (StoreError?, Set<PushID>) {
    guard turn.isToBeSaved || storeProblem != nil else { return (nil, []) }
    var batch = Batch(
      now: Moment.now().instant, wallOffset: engine.wallOffset, openings: turn.openings, records: turn.ended,
      waits: turn.waited)
    batch.validators = turn.validators
    if turn.deviceChanged { batch.device = engine.device }
    for id in turn.changed { batch.states[id] = engine.state(of: id) }
    for id in turn.learned { batch.learned[id] = .some(engine.learned(of: id)) }
    batch.transfers = transferChanges(of: turn)
    batch.pushes = pushChanges(of: turn)
    let isPromised = turn.mustLast || !turn.promises.isEmpty || !turn.arrivals.isEmpty
    var problem: StoreError?
    var known: Set<PushID> = []
    do throws(StoreError) {
      known = try await store.save(batch, durably: isPromised)
    } catch {
      problem = error
    }
    tally.noteWrite(took: batch.now.duration(to: Moment.now().instant), failed: problem != nil)
    return (problem, known)
  }

  /// Sees to the next try after a commit that failed, and says once when writing stops and when it works again.
  private func note(_ problem: StoreError?) {
    if let problem {
      let retryAt = Moment.now().instant + Self.retryAfter
      commitTimer?.arm(at: retryAt.microseconds, accuracy: 1_000_000)
      saveAllAfter(problem)
    }
    guard storeProblem != problem else { return }
    storeProblem = problem
    if let problem { journal.cannotWrite(problem) } else { journal.writesAgain() }
    notify()
  }

  /// Deals with an error of a reading: a damaged file was set aside, and all that is known goes into the new one.
  func notice(_ problem: StoreError) {
    journal.cannotRead(problem)
    saveAllAfter(problem)
    if !pending.isEmpty { commitSoon() }
  }

  private func saveAllAfter(_ problem: StoreError) {
    guard problem.code == .corrupt else { return }
    pending.changed.formUnion(configuration.apps.map(\.id))
    pending.learned.formUnion(configuration.apps.map(\.id))
    pending.validators = fetches.all
    pending.savesAll = true
    pending.deviceChanged = true
  }
}
