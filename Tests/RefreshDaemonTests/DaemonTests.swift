import RefreshEngine
import Testing

@testable import RefreshDaemon
@testable import RefreshStore

/// The whole daemon in virtual time, with a store that is slow or refuses.
@Suite struct DaemonTests {
  private static let file = """
    id = "org.example.todo"
    foreground_interval = "1h"
    background_interval = "never"
    [[task]]
    run = ["true"]
    """

  private let todo: AppID
  private let world: VirtualDaemon

  init() throws {
    todo = try #require(AppID("org.example.todo"))
    world = try VirtualDaemon(apps: ["org.example.todo": Self.file])
    world.scheduler.run(for: .seconds(600))
  }

  @Test func aRefreshStartsAfterItsStartIsSavedAndNotBefore() throws {
    world.store.isPrompt = false
    let before = world.store.saved.count
    world.send(.foreground, of: todo)
    world.scheduler.run(for: .seconds(60))
    #expect(world.launcher.started.isEmpty, "nothing starts while the store does not answer")
    #expect(world.daemon.core.engine.refreshingCount == 1)
    world.store.finish()
    #expect(world.store.saved.count == before + 1)
    let refresh = try #require(world.store.saved.last?.states[todo]?.running?.id)
    #expect(world.launcher.started == [ProcessKey(refresh: refresh, task: 0)])
  }

  @Test func aTaskIsReleasedOnlyAfterItsEndIsSaved() throws {
    world.send(.foreground, of: todo)
    world.scheduler.run(for: .seconds(1))
    let key = try #require(world.launcher.started.first)
    world.store.isPrompt = false
    world.launcher.end(key, TaskEnd(exit: .exited(0)))
    world.scheduler.run(for: .seconds(60))
    #expect(world.launcher.released.isEmpty)
    world.store.finish()
    #expect(world.launcher.released == [key.run])
    #expect(world.store.saved.last?.changes.history.refreshes.map(\.id) == [key.refresh])
  }

  @Test func aStoreThatRefusesBreaksThePromiseAndTheDaemonGoesOn() throws {
    world.store.problem = StoreError(
      .save, path: "/nowhere", sqliteCode: 13, systemError: 0, cause: "database or disk is full")
    var answers: [StoreError?] = []
    world.daemon.handleDurably([.disabled(todo, true)]) { answers.append($0) }
    world.scheduler.run(for: .seconds(1))
    #expect(answers == [world.store.problem])
    #expect(world.daemon.saving.problem == world.store.problem)
    world.daemon.core.handle(.disabled(todo, false))
    world.send(.foreground, of: todo)
    world.scheduler.run(for: .seconds(1))
    #expect(world.launcher.started.count == 1, "the daemon goes on in memory")
    world.store.problem = nil
    world.scheduler.run(for: .seconds(11))
    #expect(world.daemon.saving.problem == nil, "the commit is tried again")
  }

  private func fill() {
    world.store.problem = StoreError(
      .save, path: "/nowhere", sqliteCode: 13, systemError: 0, cause: "database or disk is full")
  }

  @Test func aCommitThatIsTriedAgainSurvivesALossOfPowerToo() {
    fill()
    world.daemon.saving.requireDurable()
    world.daemon.core.handle(.disabled(todo, true))
    world.scheduler.run(for: .seconds(1))
    #expect(world.store.isLastDurable)
    world.store.problem = nil
    world.scheduler.run(for: .seconds(11))
    #expect(world.store.isLastDurable)
  }

  @Test func aValidatorThatCannotBeStoredIsNotUsed() {
    let (url, old) = ("https://example.org/a", Validator(etag: "old"))
    world.daemon.runner.fetches.remember(old, of: todo, url)
    fill()
    var isRefused = false
    world.daemon.remember(Validator(etag: "new"), of: todo, url) { isRefused = $0 != nil }
    world.scheduler.run(for: .seconds(1))
    #expect(isRefused && world.daemon.runner.fetches.validator(of: todo, url) == old)
  }

  @Test func aStoreThatCannotBeReadIsReportedOnceHoweverOftenItIsAsked() {
    let problems = [1, 1, 2].map { code in
      StoreError(.read, path: "/nowhere", sqliteCode: code, systemError: 0, cause: "disk I/O error")
    }
    for problem in problems { world.daemon.saving.readFailed(problem) }
    #expect(world.output.journal.count { $0.hasPrefix("cannot read") } == 2)
    world.daemon.saving.reads.past(of: todo, limit: 1) { _ in }
    world.daemon.saving.readFailed(problems[2])
    #expect(world.output.journal.count { $0.hasPrefix("cannot read") } == 3)
  }

  @Test func aDaemonThatStopsEndsItsTasksAndSavesBeforeItExits() throws {
    world.send(.foreground, of: todo)
    world.scheduler.run(for: .seconds(1))
    let key = try #require(world.launcher.started.first)
    world.daemon.stop()
    world.scheduler.run(for: .seconds(1))
    #expect(world.launcher.terminated == [key])
    world.store.isPrompt = false
    world.launcher.end(key, TaskEnd(exit: .signalled(15)))
    world.scheduler.run(for: .seconds(1))
    #expect(!world.store.closed && !world.scheduler.hasExited)
    world.store.finish()
    #expect(world.store.closed && world.scheduler.hasExited)
  }
}
