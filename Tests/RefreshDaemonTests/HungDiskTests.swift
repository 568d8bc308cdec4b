import RefreshAPI
import RefreshEngine
import Testing

@testable import RefreshDaemon
@testable import RefreshStore

/// The whole daemon in virtual time, with a disk that does not answer.
@Suite struct HungDiskTests {
  static func file(_ id: String) -> String {
    """
    id = "\(id)"
    foreground_interval = "1h"
    background_interval = "never"
    deadline = "30s"
    grace = "5s"
    [[task]]
    run = ["true"]
    """
  }

  private let todo: AppID
  private let mail: AppID
  private let world: VirtualDaemon
  private var daemon: Daemon { world.daemon }

  init() throws {
    todo = try #require(AppID("org.example.todo"))
    mail = try #require(AppID("org.example.mail"))
    world = try VirtualDaemon(
      apps: ["org.example.todo": Self.file("org.example.todo"), "org.example.mail": Self.file("org.example.mail")])
    world.scheduler.run(for: .seconds(600))
  }

  /// Starts a refresh of an app while the disk is well.
  private func start(_ app: AppID) throws -> ProcessKey {
    world.send(.foreground, of: app)
    world.scheduler.run(for: .seconds(1))
    return try #require(world.launcher.started.last)
  }

  /// Makes the disk hang in the middle of a commit.
  private func hang() {
    world.store.isPrompt = false
    daemon.core.handle(.overridden(mail, Overrides()))
    daemon.core.handle(.scheduled(mail, OneShot(earliest: daemon.core.now + .hours(20), reason: "a change")))
    world.scheduler.run(for: .seconds(1))
  }

  @Test func aTaskIsWarnedAskedToEndAndKilledInTime() throws {
    let key = try start(todo)
    hang()
    world.scheduler.run(for: .seconds(24))
    #expect(world.launcher.warned == [key] && world.launcher.terminated.isEmpty)
    world.scheduler.run(for: .seconds(5))
    #expect(world.launcher.terminated == [key] && world.launcher.killed.isEmpty)
    world.scheduler.run(for: .seconds(5))
    #expect(world.launcher.killed == [key])
  }

  @Test func aCommitOfMoreThanTwoSecondsIsAProblemUntilItsEnd() {
    hang()
    #expect(daemon.saving.problem == nil)
    world.scheduler.run(for: .seconds(2))
    #expect(daemon.saving.problem?.code == .unanswered)
    #expect(world.output.line.contains("Nothing new starts: cannot save to "), "\(world.output.line)")
    #expect(world.output.journal.contains { $0.contains("nothing new starts until it answers") })
    world.store.isPrompt = true
    world.store.finish()
    world.scheduler.run(for: .seconds(1))
    #expect(daemon.saving.problem == nil && !world.output.line.contains("Nothing"))
    #expect(world.output.journal.contains { $0.contains("the store can be written again") })
  }

  @Test func aSwitchIsRefusedAfterEightSecondsAndUndone() throws {
    hang()
    var answers: [String] = []
    func ask(_ name: String, _ event: Event) {
      daemon.handleDurably([event]) { problem in
        answers.append("\(name) \(problem?.code == .unanswered)")
      }
    }
    ask("disable", .disabled(todo, true))
    ask("enable", .disabled(todo, false))
    world.scheduler.run(for: .seconds(6))
    #expect(answers.isEmpty)
    world.scheduler.run(for: .seconds(2))
    #expect(answers == ["enable true", "disable true"], "what was changed last is undone first")
    #expect(daemon.core.engine.state(of: todo)?.isDisabled == false)
    ask("again", .disabled(todo, true))
    #expect(answers.last == "again true", "nobody waits for a disk that is known to hang")
    world.store.isPrompt = true
    world.store.finish()
    world.scheduler.run(for: .seconds(1))
    #expect(world.store.saved.last?.states[todo]?.isDisabled == false, "the disk has what is true")
    ask("then", .disabled(todo, true))
    world.scheduler.run(for: .seconds(1))
    #expect(answers.last == "then false")
  }

  @Test func aChangeOnTopOfOneThatFailsIsRefusedWithIt() throws {
    world.store.isPrompt = false
    var answers: [Bool] = []
    func disable() {
      daemon.handleDurably([.disabled(todo, true)]) { problem in answers.append(problem == nil) }
    }
    disable()
    world.scheduler.run(for: .seconds(1))
    disable()
    // The disk is full when it answers at last, and has room again for the next commit.
    world.store.problem = StoreError(
      .save, path: "store", sqliteCode: 13, systemError: 0, cause: "database or disk is full")
    world.store.finish()
    world.store.problem = nil
    world.scheduler.run(for: .zero)
    world.store.isPrompt = true
    world.store.finish()
    world.scheduler.run(for: .seconds(11))
    #expect(answers == [false, false], "nobody is told that the app is disabled")
    #expect(daemon.core.engine.state(of: todo)?.isDisabled == false)
    #expect(world.store.saved.last { $0.states[todo] != nil }?.states[todo]?.isDisabled == false)
  }

  @Test func aChangeThatTheDiskHadIsUndoneThereToo() throws {
    world.store.isPrompt = false
    var isRefused = false
    daemon.handleDurably([.disabled(todo, true)]) { problem in isRefused = problem != nil }
    world.scheduler.run(for: .seconds(9))
    #expect(isRefused)
    world.store.isPrompt = true
    world.store.finish()
    world.scheduler.run(for: .seconds(1))
    #expect(world.store.saved.suffix(2).map { $0.states[todo]?.isDisabled } == [true, false])
  }

  @Test func theWaitForTheDiskIsNoPartOfARefresh() throws {
    world.store.isPrompt = false
    world.send(.foreground, of: todo)
    world.scheduler.run(for: .seconds(300))
    world.store.isPrompt = true
    world.store.finish()
    let key = try #require(world.launcher.started.first)
    let begin = daemon.core.now
    world.scheduler.run(for: .seconds(4))
    world.launcher.end(key, TaskEnd(exit: .exited(0)))
    world.scheduler.run(for: .seconds(1))
    let record = try #require(world.store.saved.flatMap(\.changes.history.refreshes).last)
    #expect(record.startedAt == begin && record.startedAt.duration(to: record.endedAt) == .seconds(4))
    let state = try #require(daemon.core.engine.state(of: todo))
    #expect(state.freshAt == begin && state.lastStart == begin)
  }

  @Test func aRefusedPushIsForgottenOnTheDiskAndAnEarlierOneIsNot() throws {
    func order(_ message: String) throws -> CheckedPush {
      let payload = try PushPayload("{\"aps\":{\"content-available\":1},\"n\":\"\(message)\"}")
      return CheckedPush(app: todo, payload: payload, urgency: .normal, message: message)
    }
    world.store.isPrompt = false
    var answers: [Bool] = []
    let note = { (result: Result<[AcceptedPush], PushRefusal>) in
      if case .success = result { answers.append(true) } else { answers.append(false) }
    }
    // The first two are in the commit that hangs, the third waits for the next one.
    daemon.pushes.accept([try order("new"), try order("old")], then: note)
    world.scheduler.run(for: .seconds(1))
    daemon.pushes.accept([try order("next")], then: note)
    world.scheduler.run(for: .seconds(8))
    #expect(answers == [false, false])
    let known = PushID(2)
    world.store.known = [known]
    world.store.isPrompt = true
    world.store.finish()
    world.scheduler.run(for: .seconds(1))
    let batches = world.store.saved.suffix(2)
    #expect(batches.first?.arrived.map(\.message) == ["new", "old"])
    #expect(batches.last?.arrived.isEmpty == true && batches.last?.changes.pushes == [PushID(1): .gone])
    #expect(batches.last?.unseen == [todo: ["new"]], "the message that was taken before stays known")
    #expect(daemon.core.engine.pushes(of: todo).isEmpty)
  }

  @Test func aReadIsAnsweredInTime() throws {
    world.store.isPrompt = false
    var codes: [StoreError.Code?] = []
    let note = { (result: Result<AppPast, StoreError>) in
      if case .failure(let problem) = result { codes.append(problem.code) } else { codes.append(nil) }
    }
    daemon.saving.reads.past(of: todo, limit: 3, then: note)
    world.scheduler.run(for: .seconds(2))
    #expect(codes == [.unanswered])
    daemon.saving.reads.past(of: todo, limit: 3, then: note)
    #expect(codes.count == 2, "a second one does not wait for a store that has not answered the first")
  }

  @Test func aStartThatWasSavedLateHasItsWholeDeadline() throws {
    world.store.isPrompt = false
    world.send(.foreground, of: todo)
    world.scheduler.run(for: .seconds(300))
    #expect(world.launcher.started.isEmpty && world.launcher.terminated.isEmpty)
    world.store.isPrompt = true
    world.store.finish()
    let launch = try #require(world.launcher.launches.first)
    #expect(launch.timeLimit == .seconds(30))
    let end = daemon.core.wall(daemon.core.now + .seconds(30)) / 1_000_000
    #expect(launch.environment.contains("REFRESH_DEADLINE=\(end)"))
    world.scheduler.run(for: .seconds(29))
    #expect(world.launcher.terminated.isEmpty)
    world.scheduler.run(for: .seconds(1))
    #expect(world.launcher.terminated == [launch.key] && world.launcher.killed.isEmpty)
    world.scheduler.run(for: .seconds(5))
    #expect(world.launcher.killed == [launch.key])
  }

  @Test func aStartWhoseReasonIsGoneIsNotPerformed() throws {
    world.store.isPrompt = false
    world.send(.foreground, of: todo)
    world.scheduler.run(for: .seconds(60))
    daemon.core.handle(.disabled(todo, true))
    world.store.isPrompt = true
    world.store.finish()
    world.scheduler.run(for: .seconds(1))
    #expect(world.launcher.started.isEmpty && world.launcher.terminated.isEmpty)
    #expect(daemon.core.engine.refreshingCount == 0)
    let reasons = world.store.saved.flatMap(\.changes.history.refreshes).map(\.stopReason)
    #expect(reasons == [.user], "it has its one outcome")
  }

  @Test(arguments: [0, 60]) func aDaemonThatIsToStopEnds(hungFor seconds: Int) throws {
    let key = try start(todo)
    hang()
    world.scheduler.run(for: .seconds(seconds))
    daemon.stop()
    world.scheduler.run(for: .seconds(1))
    #expect(world.launcher.terminated.contains(key))
    world.launcher.end(key, TaskEnd(exit: .signalled(15)))
    world.scheduler.run(for: .seconds(10))
    #expect(world.scheduler.hasExited)
    #expect(world.output.journal.contains { $0.hasPrefix("stopping without the last changes: cannot save to ") })
  }

  @Test func aStoreThatDoesNotCloseKeepsNoDaemon() {
    world.store.isCloseable = false
    daemon.stop()
    world.scheduler.run(for: .seconds(1))
    #expect(world.store.closed && !world.scheduler.hasExited)
    world.scheduler.run(for: .seconds(6))
    #expect(world.scheduler.hasExited)
  }

  @Test func aProcessThatNoSignalEndsIsNamedAndKeepsNoDaemon() throws {
    let key = try start(todo)
    world.scheduler.run(for: .seconds(35))
    #expect(world.launcher.killed == [key] && daemon.core.engine.refreshingCount == 1)
    world.scheduler.run(for: .seconds(10))
    #expect(daemon.core.engine.refreshingCount == 0 && daemon.core.engine.stuckRefreshes == [key.refresh: todo])
    #expect(world.output.line.contains("Blocked in the kernel: a process of org.example.todo."))
    #expect(
      world.output.journal.contains { $0.contains("process 4711 of refresh \(key.refresh) is blocked in the kernel") })
    let view = daemon.view(of: try #require(daemon.core.configuration[todo]))
    #expect(view.running?.isStuck == true && view.running?.stuckPids == [4711])
    world.launcher.end(key, TaskEnd(exit: .signalled(9)))
    world.scheduler.run(for: .seconds(1))
    #expect(
      world.store.saved.flatMap(\.changes.history.refreshes).map(\.stopReason) == [.deadline],
      "its end is recorded at last")
    #expect(daemon.core.engine.stuckRefreshes.isEmpty)
    #expect(!world.output.line.contains("No signal"), "the status line does not name it any more")
  }

  @Test func aDaemonEndsWithoutAProcessThatNoSignalEnds() throws {
    let key = try start(todo)
    daemon.stop()
    world.scheduler.run(for: .seconds(10))
    #expect(world.launcher.killed == [key] && !world.scheduler.hasExited)
    world.scheduler.run(for: .seconds(10))
    #expect(world.scheduler.hasExited)
  }
}
