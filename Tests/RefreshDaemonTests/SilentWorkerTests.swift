import RefreshAPI
import RefreshEngine
import Testing

@testable import RefreshDaemon

/// A worker that starts and never asks for its orders, in the whole daemon and in virtual time.
@Suite struct SilentWorkerTests {
  @Test func aWorkerThatDoesNotAskIsEndedAndItsTransferWaitsForTheNext() throws {
    let todo = try #require(AppID("org.example.todo"))
    let world = try VirtualDaemon(apps: ["org.example.todo": HungDiskTests.file("org.example.todo")])
    world.scheduler.run(for: .seconds(600))
    let order = try CheckedTransfer(
      Wire.Request(url: "http://127.0.0.1/file", path: "/nowhere/file", network: Wire.NetworkConstraint.none))
    var ids: [TransferID] = []
    world.daemon.transfers.enqueue([order], of: todo) { ids = $1 }
    world.scheduler.run(for: .seconds(1))
    let (id, worker) = (try #require(ids.first), try #require(world.launcher.started.last))
    #expect(world.daemon.core.engine.transferState(of: id)?.stage == .transferring)
    world.scheduler.run(for: .seconds(28))
    #expect(world.launcher.terminated.isEmpty)
    world.scheduler.run(for: .seconds(2))
    #expect(world.launcher.terminated == [worker])
    world.scheduler.run(for: .seconds(30))
    #expect(Set(world.launcher.killed) == [worker])
    world.launcher.end(worker, TaskEnd(exit: .signalled(9)))
    world.scheduler.run(for: .minutes(5))
    #expect(world.launcher.started.count { $0 != worker } == 1, "another worker is started for it")
  }
}
