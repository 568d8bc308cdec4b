import RefreshEngine
import Systemd
import Testing

@testable import RefreshDaemon
@testable import RefreshStore

/// The end of the daemon, in virtual time.
@Suite struct StopTests {
  private let todo: AppID
  private let world: VirtualDaemon
  private var daemon: Daemon { world.daemon }

  init() throws {
    todo = try #require(AppID("org.example.todo"))
    world = try VirtualDaemon(apps: ["org.example.todo": HungDiskTests.file("org.example.todo")])
    world.scheduler.run(for: .seconds(600))
  }

  /// Stops the daemon while the disk has a change by a user, and ends the last process after that.
  private func stopDuringAChange(_ answer: @escaping (StoreError?) -> Void) throws {
    daemon.notices.show(.transfers, of: todo, body: "here")
    let notice = try #require(world.launcher.started.last)
    daemon.stop()
    world.scheduler.run(for: .seconds(1))
    world.store.isPrompt = false
    daemon.handleDurably([.disabled(todo, true)], then: answer)
    world.scheduler.run(for: .seconds(1))
    world.launcher.end(notice, TaskEnd(exit: .signalled(9)))
    world.scheduler.run(for: .seconds(1))
  }

  @Test func aDaemonThatStopsWaitsForItsLastCommit() throws {
    var isStored: Bool?
    try stopDuringAChange { isStored = $0 == nil }
    #expect(!world.store.closed && !world.scheduler.hasExited)
    world.store.isPrompt = true
    world.store.finish()
    world.scheduler.run(for: .seconds(1))
    #expect(isStored == true && world.store.closed && world.scheduler.hasExited)
  }

  @Test func aDaemonThatStopsWaitsEightSecondsForADiskThatHangs() throws {
    var isStored: Bool?
    try stopDuringAChange { isStored = $0 == nil }
    world.scheduler.run(for: .seconds(4))
    #expect(!world.scheduler.hasExited)
    world.scheduler.run(for: .seconds(4))
    #expect(isStored == false && world.scheduler.hasExited)
    #expect(world.output.journal.contains { $0.hasPrefix("stopping without the last changes: cannot save to ") })
  }

  @Test func aSecondRequestToStopWaitsNoMoreForTheServiceManager() throws {
    world.send(.foreground, of: todo)
    world.scheduler.run(for: .seconds(1))
    let key = try #require(world.launcher.started.last)
    world.launcher.findsSurvivors = false
    daemon.stop()
    world.scheduler.run(for: .seconds(1))
    #expect(world.launcher.terminated.isEmpty)
    daemon.stop()
    world.scheduler.run(for: .seconds(1))
    #expect(world.launcher.terminated == [key])
  }
}
