import RefreshEngine
import Testing

@testable import RefreshDaemon
@testable import RefreshStore

/// Changes by a user that the disk does not take: each is as if it had never been asked for.
@Suite struct TakingBackTests {
  private let (todo, mail): (AppID, AppID)
  private let world: VirtualDaemon
  private var daemon: Daemon { world.daemon }

  init() throws {
    todo = try #require(AppID("org.example.todo"))
    mail = try #require(AppID("org.example.mail"))
    world = try VirtualDaemon(
      apps: [
        "org.example.todo": HungDiskTests.file("org.example.todo"),
        "org.example.mail": HungDiskTests.file("org.example.mail"),
      ])
    world.scheduler.run(for: .seconds(600))
  }

  /// Each change by a user, in the first moment of a hang, on an app or a transfer that it changes.
  @Test func everyChangeThatIsRefusedIsTakenBack() throws {
    world.send(.foreground, of: todo)
    world.scheduler.run(for: .seconds(1))
    world.launcher.end(try #require(world.launcher.started.last), TaskEnd(exit: .exited(0)))
    daemon.core.handle(.observed(.network(Reading(Network(reach: .offline), source: "test"))))
    world.scheduler.run(for: .seconds(1))
    let later = OneShot(earliest: daemon.core.now + .hours(9), reason: "")
    let transfer = TransferID(1)
    let policy = TransferPolicy(
      session: TransferSession(app: todo, name: "default"), host: "example.org", enqueuedAt: daemon.core.now)
    daemon.core.handle(.enqueued([Enqueued(id: transfer, policy: policy)]))
    world.scheduler.run(for: .seconds(1))
    let changes: [Event] = [
      .skipped(todo), .skippedAll(todo, until: later.earliest), .forgotten(todo), .disabled(todo, true),
      .scheduled(todo, later),
      .overridden(todo, Overrides(backgroundInterval: .every(.seconds(7200)))), .signalled(todo, .logout),
      .paused(.untilResumed),
      .transferPaused(transfer, true), .transferPrioritized(transfer, 7), .transferCancelled(transfer),
    ]
    for change in changes {
      let before = (daemon.core.engine.state(of: todo), daemon.core.engine.learned(of: todo))
      let (pause, move) = (daemon.core.engine.device.pause, daemon.core.engine.transferState(of: transfer))
      world.store.isPrompt = false
      var isRefused = false
      daemon.handleDurably([change]) { isRefused = $0 != nil }
      world.scheduler.run(for: .seconds(9))
      #expect(isRefused)
      for _ in 0..<2 {
        #expect(daemon.core.engine.state(of: todo) == before.0, "\(change)")
        #expect(daemon.core.engine.learned(of: todo) == before.1, "\(change)")
        #expect(daemon.core.engine.device.pause == pause, "\(change)")
        #expect(daemon.core.engine.transferState(of: transfer) == move, "\(change)")
        world.store.isPrompt = true
        world.store.finish()
        world.scheduler.run(for: .seconds(1))
      }
    }
    #expect(world.store.saved.compactMap { $0.changes.history.openingsForgotten[todo] } == [true, false])
  }

  /// A switch stops a refresh at once; no disk delays that.
  @Test(arguments: [false, true]) func aRefreshThatARefusedSwitchHasStoppedRunsAgain(isLogout: Bool) throws {
    world.send(.foreground, of: todo)
    world.scheduler.run(for: .seconds(1))
    let key = try #require(world.launcher.started.last)
    world.store.isPrompt = false
    var isRefused = false
    daemon.handleDurably([isLogout ? .signalled(todo, .logout) : .disabled(todo, true)]) { isRefused = $0 != nil }
    world.scheduler.run(for: .seconds(1))
    #expect(world.launcher.terminated == [key], "the user does not wait for the disk")
    world.launcher.end(key, TaskEnd(exit: .signalled(15)))
    world.scheduler.run(for: .seconds(8))
    #expect(isRefused)
    world.store.isPrompt = true
    world.store.finish()
    world.scheduler.run(for: .seconds(1))
    #expect(world.launcher.started.last != key, "it runs again")
    let ended = world.store.saved.flatMap(\.changes.history.refreshes)
    let outcomes = ended.filter { $0.id == key.refresh }.map(\.stopReason)
    #expect(outcomes == [isLogout ? .logout : .user])
  }

  @Test func enablingWhatIsEnabledAsksForNothing() throws {
    world.send(.foreground, of: todo)
    world.scheduler.run(for: .seconds(1))
    let key = try #require(world.launcher.started.last)
    world.store.isPrompt = false
    daemon.handleDurably([.disabled(todo, false)]) { _ in }
    world.launcher.end(key, TaskEnd(exit: .exited(0)))
    world.scheduler.run(for: .seconds(9))
    world.store.isPrompt = true
    world.store.finish()
    world.scheduler.run(for: .seconds(1))
    #expect(world.launcher.started.last == key)
  }

  @Test func anErasedAppThatIsRefusedIsThereAsItWas() throws {
    daemon.core.handle(.overridden(todo, Overrides(backgroundInterval: .every(.seconds(7200)))))
    try world.reload(apps: ["org.example.mail": HungDiskTests.file("org.example.mail")])
    world.scheduler.run(for: .seconds(1))
    let before = try #require(daemon.core.engine.state(of: todo))
    world.store.isPrompt = false
    daemon.handleDurably([.erased(todo)]) { _ in }
    world.scheduler.run(for: .seconds(9))
    #expect(daemon.core.engine.state(of: todo) == before && daemon.core.engine.mayErase(todo))
    world.store.isPrompt = true
    world.store.finish()
    world.scheduler.run(for: .seconds(1))
    #expect(world.store.saved.last?.states[todo] == before, "the disk had erased it, and has it again")
  }

  @Test func anAppIsErasedByTheNextCommitOnlyIfNothingRefusedIt() throws {
    try world.reload(apps: ["org.example.mail": HungDiskTests.file("org.example.mail")])
    world.scheduler.run(for: .seconds(1))
    world.store.isPrompt = false
    daemon.core.handle(.scheduled(mail, OneShot(earliest: daemon.core.now + .hours(20), reason: "a change")))
    world.scheduler.run(for: .seconds(1))
    daemon.handleDurably([.erased(todo)]) { _ in }
    world.scheduler.run(for: .seconds(8))
    world.store.isPrompt = true
    world.store.finish()
    world.scheduler.run(for: .seconds(1))
    #expect(!world.store.saved.contains { $0.changes.erased.contains(todo) })
  }

  @Test func anAppWhoseFileComesBackWhileItIsErasedBeginsAnew() throws {
    try world.reload(apps: ["org.example.mail": HungDiskTests.file("org.example.mail")])
    world.scheduler.run(for: .seconds(1))
    world.store.isPrompt = false
    daemon.core.handle(.erased(todo))
    try world.reload(apps: [
      "org.example.todo": HungDiskTests.file("org.example.todo"),
      "org.example.mail": HungDiskTests.file("org.example.mail"),
    ])
    world.store.isPrompt = true
    world.store.finish()
    world.scheduler.run(for: .seconds(1))
    let batch = try #require(world.store.saved.last { $0.changes.erased.contains(todo) })
    let state = try #require(world.store.saved.last { $0.states[todo] != nil }?.states[todo])
    #expect(
      batch.changes.history.refreshes.isEmpty && state.seenAt != nil,
      "the store removes its rows first, and then has this one")
  }
}
