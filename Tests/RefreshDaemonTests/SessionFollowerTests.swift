import RefreshEngine
import Testing

@testable import RefreshDaemon

/// Apps log in and out with the sessions of their owners.
@Suite struct SessionFollowerTests {
  private static let anna: UInt32 = 1000
  private let world: VirtualDaemon
  private let todo: AppID

  init() throws {
    let file = """
      id = "org.example.todo"
      background_interval = "30m"
      [[task]]
      run = ["true"]

      """
    world = try VirtualDaemon(apps: ["org.example.todo": file], main: "sessions = \"logind\"\n", user: Self.anna)
    todo = try #require(AppID("org.example.todo"))
  }

  /// Answers the last question whether the owner lingers.
  private func answer(_ lingers: Bool) throws {
    let answer = world.machine.lingering.popLast()
    try #require(answer != nil)
    answer?(lingers)
  }

  private var phase: Phase? { world.daemon.core.engine.phase(of: todo) }

  @Test func `A new app waits for the answer whether its absent owner lingers, and starts if so`() throws {
    #expect(phase == .loggedOut)
    world.machine.onSessions([])
    world.scheduler.run(for: .seconds(60))
    #expect(phase == .loggedOut && world.launcher.started.isEmpty)
    try answer(true)
    world.scheduler.run(for: .seconds(60))
    #expect(phase == .background && world.launcher.started.count == 1)
  }

  @Test func `A new app waits for a login service that does not answer, or for a person's word`() {
    world.scheduler.run(for: .seconds(3600))
    #expect(phase == .loggedOut && world.launcher.started.isEmpty)
    let app = world.daemon.core.configuration[todo]
    #expect(app.map(world.daemon.machine.logins.awaitsSession) == true)
    world.send(.login, of: todo)
    world.scheduler.run(for: .seconds(60))
    #expect(world.launcher.started.count == 1)
  }

  @Test func `An owner who is back before it is known whether she lingers stays logged in`() throws {
    world.machine.onSessions([Self.anna])
    world.machine.onSessions([])
    world.machine.onSessions([Self.anna])
    try answer(false)
    #expect(phase == .background)
    world.machine.onSessions([])
    try answer(false)
    #expect(phase == .loggedOut)
  }

  @Test func `What sessions say again changes nothing that a person has said since`() throws {
    world.machine.onSessions([Self.anna])
    world.send(.logout, of: todo)
    world.machine.onSessions([Self.anna])
    #expect(phase == .loggedOut)
    world.machine.onSessions([])
    try answer(false)
    world.send(.login, of: todo)
    world.machine.onSessions([])
    #expect(phase == .background && world.machine.lingering.isEmpty)
  }
}
