import RefreshAPI
import RefreshEngine
import Testing

@testable import RefreshDaemon
@testable import Varlink

/// A running transfer that is cancelled while the disk does not answer, and whose worker answers before the disk.
@Suite struct RefusedCancelTests {
  private let world: VirtualDaemon
  private let id: TransferID
  private let worker: WorkerPool.Worker
  private var daemon: Daemon { world.daemon }
  private var stage: TransferState.Stage? { daemon.core.engine.transferState(of: id)?.stage }

  init() throws {
    let todo = try #require(AppID("org.example.todo"))
    let world = try VirtualDaemon(apps: ["org.example.todo": HungDiskTests.file("org.example.todo")])
    self.world = world
    world.scheduler.run(for: .seconds(600))
    let order = try CheckedTransfer(
      Wire.Request(url: "http://127.0.0.1/file", path: "/nowhere/file", network: Wire.NetworkConstraint.none))
    var ids: [TransferID] = []
    world.daemon.transfers.enqueue([order], of: todo) { ids = $1 }
    world.scheduler.run(for: .seconds(1))
    id = try #require(ids.first)
    let launch = try #require(world.launcher.launches.last)
    let token = try #require(launch.environment.first { $0.hasPrefix("REFRESH_TOKEN=") })
    let peer = Peer(pid: 1, uid: launch.owner.uid, gid: launch.owner.gid, groups: [])
    worker = try #require(world.daemon.transfers.workers.worker(of: String(token.dropFirst(14)), for: peer))
  }

  /// Cancels the transfer, and has the worker report the end of its attempt a second later.
  private func cancel(then end: Wire.ReportEnd) -> () -> Bool? {
    world.store.isPrompt = false
    var isStored: Bool?
    daemon.handleDurably([.transferCancelled(id)]) { isStored = $0 == nil }
    world.scheduler.run(for: .seconds(1))
    let report = Wire.TransferReport(id: Int64(id.number), kind: .ended, end: end)
    daemon.transfers.apply(report, of: id, by: worker, at: daemon.core.now)
    return { isStored }
  }

  private func answerDisk() {
    world.store.isPrompt = true
    world.store.finish()
    world.scheduler.run(for: .seconds(1))
  }

  @Test func aRefusedCancelEndsNothing() throws {
    let isStored = cancel(then: .retry)
    world.scheduler.run(for: .seconds(9))
    #expect(isStored() == false)
    answerDisk()
    world.scheduler.run(for: .seconds(3))
    #expect(stage == .transferring, "it is tried again after its back-off")
    #expect(world.store.saved.last { $0.transfers.states[id] != nil }?.transfers.states[id]?.stage == stage)
  }

  @Test func aFailureAfterARefusedCancelIsAFailure() throws {
    let isStored = cancel(then: .failed)
    world.scheduler.run(for: .seconds(9))
    answerDisk()
    #expect(isStored() == false)
    guard case .ended(.failed, _) = stage else { return #expect(stage == nil, "it has failed") }
  }

  @Test(arguments: [Wire.ReportEnd.retry, .done]) func aCancelThatIsStoredLateEndsIt(end: Wire.ReportEnd) throws {
    let isStored = cancel(then: end)
    world.scheduler.run(for: .seconds(3))
    answerDisk()
    #expect(isStored() == true)
    if end == .retry {
      #expect(stage == .stopping(.cancelled), "what is there of it is being removed")
      let report = Wire.TransferReport(id: Int64(id.number), kind: .ended, end: .stopped)
      daemon.transfers.apply(report, of: id, by: worker, at: daemon.core.now)
    }
    guard case .ended(let result, _) = stage else { return #expect(stage == nil, "it has ended") }
    #expect(result == (end == .done ? .done : .cancelled))
  }
}
