import RefreshEngine
import Testing

@testable import RefreshDaemon
@testable import RefreshStore

/// An app whose file is removed: the facts that the daemon keeps, and those that it drops when the app is forgotten.
@Suite struct ForgottenAppTests {
  private let (todo, mail): (AppID, AppID)
  private let world: VirtualDaemon
  private var daemon: Daemon { world.daemon }

  init() throws {
    todo = try #require(AppID("org.example.todo"))
    mail = try #require(AppID("org.example.mail"))
    world = try VirtualDaemon(apps: Self.both)
    world.scheduler.run(for: .seconds(600))
    world.send(.foreground, of: todo)
    world.scheduler.run(for: .seconds(1))
    world.launcher.end(try #require(world.launcher.started.last), TaskEnd(exit: .exited(0)))
    world.scheduler.run(for: .seconds(1))
    #expect(daemon.runner.lastRefreshes[todo] != nil)
  }

  private static let both = [
    "org.example.todo": HungDiskTests.file("org.example.todo"),
    "org.example.mail": HungDiskTests.file("org.example.mail"),
  ]

  private func leave() throws {
    try world.reload(apps: ["org.example.mail": HungDiskTests.file("org.example.mail")])
    world.scheduler.run(for: .seconds(1))
  }

  @Test func itsLastRefreshIsKnownWhenItsFileComesBack() throws {
    let last = try #require(daemon.runner.lastRefreshes[todo])
    try leave()
    // As in a daemon that has started since.
    daemon.runner.lastRefreshes.forget(todo)
    world.store.last = [todo: last]
    try world.reload(apps: Self.both)
    world.scheduler.run(for: .seconds(1))
    #expect(daemon.runner.lastRefreshes[todo] == last)
  }

  @Test func itsLastRefreshAndItsCountAreForgottenWithIt() throws {
    try leave()
    var isStored = false
    daemon.handleDurably([.erased(todo)]) { isStored = $0 == nil }
    world.scheduler.run(for: .seconds(1))
    #expect(isStored && daemon.runner.lastRefreshes[todo] == nil && daemon.core.tally.refreshesOfApp[todo] == nil)
  }

  @Test(arguments: [true, false]) func aDaemonThatStaysUpForgetsItAfter90Days(inTheNight: Bool) throws {
    // Only an app whose refreshes are planned has nights.
    let file = HungDiskTests.file("org.example.mail")
    let left = [
      "org.example.mail": inTheNight
        ? file.replacing("background_interval = \"never\"", with: "background_interval = \"auto\"") : file
    ]
    try world.reload(apps: left)
    world.scheduler.run(for: .seconds(3600 * 24 * 89))
    #expect(daemon.core.engine.state(of: todo)?.seenAt != nil)
    world.scheduler.run(for: .seconds(3600 * 24 * 2))
    if !inTheNight { try world.reload(apps: left) }
    world.scheduler.run(for: .seconds(1))
    #expect(daemon.core.engine.state(of: todo)?.seenAt == nil && daemon.core.tally.refreshesOfApp[todo] == nil)
    #expect(world.store.saved.contains { $0.changes.erased == [todo] })
    #expect(daemon.core.engine.state(of: mail)?.seenAt != nil)
  }

  @Test func theURLsOfItsFileDoNotMakeItsRowAgain() throws {
    daemon.runner.fetches.remember(Validator(etag: "1"), of: todo, "https://example.org/a")
    world.store.isPrompt = false
    daemon.core.handle(.scheduled(mail, OneShot(earliest: daemon.core.now + .hours(20), reason: "a change")))
    world.scheduler.run(for: .seconds(1))
    try leave()
    daemon.handleDurably([.erased(todo)]) { _ in }
    world.store.isPrompt = true
    world.store.finish()
    world.scheduler.run(for: .seconds(1))
    let batch = try #require(world.store.saved.last { $0.changes.erased.contains(todo) })
    #expect(batch.validators[todo] == nil && !batch.apps.contains(todo))
  }

  @Test func whatWaitsToBeToldGoesWithIt() throws {
    let push = Push(id: PushID(7), payload: "{}", contentID: nil, urgency: .normal, at: daemon.core.now)
    let transfer = TransferID(1)
    let policy = TransferPolicy(
      session: TransferSession(app: todo, name: "default"), host: "example.org", enqueuedAt: daemon.core.now)
    daemon.core.handle(.disabled(todo, true))
    daemon.core.handle(.pushed(todo, push))
    daemon.core.handle(.enqueued([Enqueued(id: transfer, policy: policy)]))
    try leave()
    #expect(!daemon.core.engine.mayErase(todo), "a transfer has not ended")
    daemon.core.handle(.transferCancelled(transfer))
    daemon.core.handle(.transferReported(transfer, .stopped))
    world.scheduler.run(for: .seconds(1))
    #expect(daemon.core.engine.mayErase(todo))
    world.store.isPrompt = false
    let erase = { [daemon] in
      daemon.handleDurably([.erased(todo)]) { problem in if problem == nil { daemon.core.handle(.erased(todo)) } }
    }
    erase()
    world.scheduler.run(for: .seconds(9))
    #expect(daemon.core.engine.pushes(of: todo) == [push], "it was refused, and is as it was")
    #expect(daemon.core.engine.transferState(of: transfer) != nil)
    world.store.isPrompt = true
    world.store.finish()
    world.scheduler.run(for: .seconds(1))
    erase()
    world.scheduler.run(for: .seconds(1))
    #expect(daemon.core.engine.pushes(of: todo).isEmpty && daemon.core.engine.transferIDs.isEmpty)
    #expect(daemon.core.engine.state(of: todo)?.seenAt == nil)
  }

  @Test func itIsSavedAgainIntoAFileInPlaceOfADamagedOne() throws {
    daemon.core.handle(.overridden(todo, Overrides(backgroundInterval: .every(.seconds(7200)))))
    try leave()
    let before = world.store.saved.count
    daemon.saving.readFailed(StoreError(.read, path: "store", sqliteCode: 11, systemError: 0, cause: "malformed"))
    world.scheduler.run(for: .seconds(1))
    let states = world.store.saved.dropFirst(before).compactMap { $0.states[todo] }
    #expect(states.map(\.overrides.backgroundInterval) == [.every(.seconds(7200))])
  }
}
