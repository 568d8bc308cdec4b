import RefreshEngine
import Testing

@testable import RefreshDaemon
@testable import RefreshStore

/// The whole daemon in virtual time, with a store that is damaged again and again.
@Suite struct DamagedStoreTests {
  @Test func `It is tried again after a pause, and saves everything once it is whole`() throws {
    let id = "org.example.todo"
    let todo = try #require(AppID(id))
    let world = try VirtualDaemon(apps: [id: HungDiskTests.file(id)])
    world.scheduler.run(for: .seconds(600))
    let before = world.store.attempts
    world.store.problem = .unreadable(column: "app", "garbage", path: "/store")
    world.send(.foreground, of: todo)
    world.scheduler.run(for: .seconds(60))
    // Two tries at once and one every ten seconds, and a few for what happens meanwhile.
    #expect((4...14).contains(world.store.attempts - before), "\(world.store.attempts - before)")
    world.store.problem = nil
    world.scheduler.run(for: .seconds(15))
    #expect(world.store.saved.last?.states[todo] != nil || world.store.saved.contains { $0.states[todo] != nil })
    #expect(world.daemon.saving.problem == nil)
  }
}
