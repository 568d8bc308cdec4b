import RefreshEngine
import RefreshStore
import Systemd

// Saving what the engine changed, and what waits for it.

extension Daemon {
  /// How long after a failed commit the next one is tried, if nothing else brings one.
  private static let retryAfter = Duration.seconds(10)

  /// Handles events and calls back when what they changed is on disk, or why it is not.
  func handleDurably(_ events: [Event], then promise: @escaping (StoreError?) -> Void) {
    for event in events { handle(event) }
    pending.promises.append(promise)
    commitSoon()
  }

  /// Has what is pending saved and performed, after what is under way already.
  ///
  /// What the engine did not change needs no commit, but keeps its place behind one that is under way.
  func commitSoon() {
    guard !isCommitting else { return }
    if !pending.isToBeSaved && unsaved == nil { return perform() }
    isCommitting = true
    Task { await self.commit() }
  }

  /// Saves and performs until nothing is left; what comes while a commit is under way makes the next one.
  private func commit() async {
    repeat {
      let turn = pending
      pending = Pending()
      let problem = await save(turn)
      note(problem, of: turn)
      for promise in turn.promises { promise(problem) }
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
  }

  private func save(_ turn: Pending) async -> StoreError? {
    guard turn.isToBeSaved || unsaved != nil else { return nil }
    let changed = turn.changed.union(unsaved?.changed ?? [])
    var states: [AppID: AppState] = [:]
    for id in changed { states[id] = engine.state(of: id) }
    let batch = Batch(
      now: Moment.now().instant, wallOffset: engine.wallOffset, states: states,
      records: (unsaved?.ended ?? []) + turn.ended)
    do throws(StoreError) {
      try await store.save(batch, durably: !turn.promises.isEmpty)
      return nil
    } catch {
      return error
    }
  }

  /// Remembers what a failed commit owes, and says once when writing stops and when it works again.
  private func note(_ problem: StoreError?, of turn: Pending) {
    let before = unsaved
    unsaved = problem.map { Unsaved($0, of: turn, after: before) }
    if problem != nil {
      let retryAt = Moment.now().instant + Self.retryAfter
      storeRetry?.arm(at: retryAt.microseconds, accuracy: 1_000_000)
    }
    guard before?.problem != problem else { return }
    if let problem { journal.cannotWrite(problem) } else { journal.writesAgain() }
    notify(.status(statusLine))
  }
}
