import RefreshEngine
import Systemd
import Testing

@testable import RefreshDaemon

/// A refresh of two tasks, one after the other, that a person lets expire during the first.
@Suite struct ExpiredRefreshTests {
  @Test func whatFollowsAnExpireHasTheNewDeadline() throws {
    let file = """
      id = "org.example.todo"
      foreground_interval = "15m"
      background_interval = "never"

      [[task]]
      name = "fetch"
      run = ["true"]

      [[task]]
      name = "index"
      run = ["true"]
      after = ["fetch"]
      """
    let world = try VirtualDaemon(apps: ["org.example.todo": file])
    let (todo, core) = (try #require(AppID("org.example.todo")), world.daemon.core)
    world.scheduler.run(for: .seconds(600))
    world.send(.foreground, of: todo)
    let first = try #require(world.launcher.launches.last)
    #expect(first.timeLimit == .seconds(30))
    core.handle(.expired(first.key.refresh))
    world.launcher.end(first.key, TaskEnd(exit: .exited(0)))
    world.scheduler.run(for: .zero)
    let second = try #require(world.launcher.launches.last)
    #expect(second.key == ProcessKey(refresh: first.key.refresh, task: 1))
    #expect(second.timeLimit == .seconds(5))
    var engine = core.engine
    let last = engine.handle(.taskEnded(second.key.refresh, task: 1, TaskEnd(exit: .exited(0))), at: core.now)
    #expect(last.changes.history.refreshes.count == 1 && last.tasksEnded.map(\.deadline) == [core.now + .seconds(5)])
    #expect(second.environment.contains("REFRESH_DEADLINE=\(core.wall(core.now + .seconds(5)) / 1_000_000)"))
  }
}
