import RefreshEngine
import Testing
import Threads

@testable import RefreshStore

/// Apps that are out of the configuration are kept for 90 days.
@Suite struct RetentionTests {
  /// Opens a store with the history of an app, opens it again some days later, and gives what is left.
  private func days(
    _ days: Int64, configured: Bool = false, holds: [Hold.Name] = [.notConfigured], push: Push? = nil
  ) async throws -> (loaded: Loaded, history: Int, rows: Int64) {
    let scratch = try ScratchDirectory()
    let (todo, mail) = (try app("todo"), try app("mail"))
    let morning = BootClock.morning
    let (store, _) = try RefreshStore.open(scratch)
    var state = AppState(lastStart: morning.now)
    state.seenAt = morning.now
    state.waiting = Waiting(since: morning.now, holds: holds)
    var batch = Batch(morning, states: [todo: state, mail: AppState()])
    batch.learned[todo] = AppHabits()
    if let push { batch.changes.pushes[push.id] = .kept(todo, push) }
    batch.changes.history.refreshes = [
      RefreshRecord(
        id: RefreshID(start: 1, number: 1), app: todo, trigger: .interval, startedAt: morning.now,
        endedAt: morning.now, outcome: .newData)
    ]
    try await store.save(batch, durably: true)
    await store.close()
    let later = BootClock(
      bootID: morning.bootID, now: morning.now + .hours(24 * days), wallOffset: morning.wallOffset)
    let (again, loaded) = try RefreshStore.open(
      at: scratch.database, clock: later, executor: ThreadExecutor(name: "test"),
      configured: configured ? [todo, mail] : [mail])
    let history = try await again.history(of: todo, limit: 10).count
    await again.close()
    return (loaded, history, try scratch.number("SELECT count(*) FROM app"))
  }

  @Test func `An app is removed with all its rows 90 days after its file went`() async throws {
    let (loaded, history, rows) = try await days(91)
    #expect(loaded.states.keys.map(\.description).sorted() == [try app("mail").description])
    #expect(history == 0)
    #expect(rows == 1)
  }

  @Test func `A push that nobody was told does not keep its app`() async throws {
    let push = Push(id: PushID(1), payload: "{}", contentID: nil, urgency: .normal, at: BootClock.morning.now)
    let (loaded, _, rows) = try await days(91, push: push)
    #expect(loaded.states.count == 1 && loaded.pushes.isEmpty && rows == 1)
    #expect(try await days(89, push: push).loaded.pushes.count == 1)
  }

  @Test func `An app is kept before that, and one that is held for another reason or is back`() async throws {
    for left in [
      try await days(89), try await days(91, configured: true), try await days(91, holds: [.disabled]),
    ] {
      #expect(left.loaded.states.count == 2)
      #expect(left.history == 1)
    }
  }
}
