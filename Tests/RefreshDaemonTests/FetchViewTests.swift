import RefreshEngine
import Testing

@testable import RefreshDaemon

/// The task `http` writes below the folder of its file only, unless the service manager cannot open that folder.
@Suite struct FetchViewTests {
  @Test func aFetchWritesToItsFolderAndStatusSaysWhereItMayWriteMore() throws {
    let todo = try #require(AppID("org.example.todo"))
    let world = try VirtualDaemon(apps: [
      "org.example.todo": """
      id = "org.example.todo"
      background_interval = "never"
      network = "none"
      [[task]]
      name = "feed"
      http = { url = "http://127.0.0.1/feed", to = "/srv/feeds/feed" }
      [[task]]
      name = "other"
      http = { url = "http://127.0.0.1/other", to = "/srv/feeds/other" }
      """
    ])
    world.daemon.core.handle(.requested(todo, .manual))
    world.scheduler.run(for: .seconds(1))
    #expect(world.launcher.launches.map(\.confinement?.writes) == Array(repeating: .folders(["/srv/feeds"]), count: 2))
    #expect(world.daemon.unconfined == nil)
    // Both were started before anybody knew of the folder.
    for key in world.launcher.started { world.launcher.end(key, TaskEnd(exit: .exited(226))) }
    world.scheduler.run(for: .minutes(2))
    let record = try #require(world.store.saved.flatMap(\.changes.history.refreshes).first)
    #expect(record.tasks.map(\.outcome) == [.failed(.temporary(75)), .failed(.temporary(75))], "each is tried again")
    #expect(world.launcher.launches.map(\.confinement?.writes).suffix(2) == [.all, .all])
    let words = try #require(world.daemon.unconfined)
    #expect(words.contains("all files of the owner in /srv/feeds: systemd could not open that folder"), "\(words)")
    // The folder is not what is wrong now.
    for key in world.launcher.started.suffix(2) { world.launcher.end(key, TaskEnd(exit: .exited(226))) }
    world.scheduler.run(for: .hours(1))
    #expect(world.launcher.launches.count == 4)
  }
}
