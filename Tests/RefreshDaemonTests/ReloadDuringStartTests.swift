import RefreshEngine
import Testing

@testable import RefreshDaemon
@testable import RefreshStore

/// A reload in the middle of a wake: every refresh has its outcome, and the daemon can end.
@Suite struct ReloadDuringStartTests {
  private static let todoFile = """
    id = "org.example.todo"
    foreground_interval = "1h"
    background_interval = "never"
    network = "any"
    [[task]]
    name = "first"
    run = ["true"]
    """
  private static let twoTasks = todoFile + "\n[[task]]\nname = \"second\"\nrun = [\"false\"]\n"
  private static let mailFile = """
    id = "org.example.mail"
    power = "ac"
    [[task]]
    run = ["true"]
    """

  private let todo: AppID
  private let world: VirtualDaemon
  private var daemon: Daemon { world.daemon }

  init() throws {
    todo = try #require(AppID("org.example.todo"))
    world = try VirtualDaemon(apps: ["org.example.todo": Self.todoFile])
    world.scheduler.run(for: .seconds(600))
    daemon.core.handle(.observed(.network(Reading(Network(reach: .offline), source: "test"))))
    world.send(.foreground, of: todo)
    world.scheduler.run(for: .seconds(1))
    #expect(world.launcher.started.isEmpty)
  }

  /// The network comes back while the reload asks for the conditions of the new configuration.
  private func reloadInObserved(_ apps: [String: String]) throws {
    world.machine.onStart = { [unowned daemon = self.daemon] _ in
      daemon.core.handle(.observed(.network(Reading(Network(), source: "test"))))
    }
    try world.reload(apps: apps)
    world.scheduler.run(for: .seconds(1))
  }

  /// Ends what was started, and stops the daemon: it ends, and each refresh has one outcome.
  private func finish(_ outcomes: Int) {
    for key in world.launcher.started { world.launcher.end(key, TaskEnd(exit: .exited(0))) }
    world.scheduler.run(for: .seconds(1))
    #expect(daemon.core.engine.refreshes.isEmpty)
    daemon.stop()
    world.scheduler.run(for: .seconds(1))
    #expect(world.scheduler.hasExited)
    let records = world.store.saved.flatMap(\.changes.history.refreshes).map(\.id)
    #expect(records.count == outcomes && Set(records).count == outcomes, "\(records)")
  }

  @Test(arguments: [true, false]) func theAppGoes(isPrompt: Bool) throws {
    world.store.isPrompt = isPrompt
    try reloadInObserved(["org.example.mail": Self.mailFile])
    world.store.isPrompt = true
    world.store.finish()
    world.scheduler.run(for: .seconds(1))
    #expect(world.launcher.started.isEmpty)
    finish(1)
  }

  @Test(arguments: [true, false]) func theAppHasOtherTasks(isPrompt: Bool) throws {
    world.store.isPrompt = isPrompt
    try reloadInObserved(["org.example.todo": Self.twoTasks])
    world.store.isPrompt = true
    world.store.finish()
    world.scheduler.run(for: .seconds(1))
    #expect(world.launcher.started.map(\.task) == [0], "it runs as it was configured when it started")
    finish(1)
  }

  @Test func theAppGoesWhileItsRefreshRuns() throws {
    daemon.core.handle(.observed(.network(Reading(Network(), source: "test"))))
    world.scheduler.run(for: .seconds(1))
    #expect(world.launcher.started.count == 1)
    try reloadInObserved(["org.example.mail": Self.mailFile])
    #expect(world.launcher.terminated == world.launcher.started)
    finish(1)
  }

  @Test func aStartWithoutConfigurationEndsItsRefresh() throws {
    world.store.isPrompt = false
    daemon.core.handle(.observed(.network(Reading(Network(), source: "test"))))
    world.scheduler.run(for: .seconds(1))
    let refresh = try #require(daemon.core.engine.refreshes.first)
    daemon.perform([.init(effect: .start(refresh, todo, .foreground, deadline: daemon.core.now), app: nil)])
    #expect(daemon.core.engine.refreshes.isEmpty)
    world.store.isPrompt = true
    world.store.finish()
    world.scheduler.run(for: .seconds(1))
    finish(1)
  }

  @Test func aTaskOfAnUnknownRefreshEnds() throws {
    world.store.isPrompt = false
    daemon.core.handle(.observed(.network(Reading(Network(), source: "test"))))
    world.scheduler.run(for: .seconds(1))
    let refresh = try #require(daemon.core.engine.refreshes.first)
    daemon.perform([.init(effect: .startTask(refresh, todo, task: 0), app: nil)])
    #expect(daemon.core.engine.refreshes.isEmpty && world.launcher.started.isEmpty)
  }
}
