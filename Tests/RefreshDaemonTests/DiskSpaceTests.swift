import RefreshAPI
import RefreshEngine
import Testing

@testable import RefreshDaemon

/// Transfers that wait for room on several disks; one disk does not answer.
@Suite struct DiskSpaceTests {
  @Test func aDiskThatDoesNotAnswerDelaysTheOthersByFourSeconds() throws {
    let todo = try #require(AppID("org.example.todo"))
    let world = try VirtualDaemon(apps: ["org.example.todo": HungDiskTests.file("org.example.todo")])
    world.scheduler.run(for: .seconds(600))
    let folders = (1...5).map { "/dev/shm/\($0)" } + ["/nowhere"]
    var ids: [TransferID] = []
    for folder in folders {
      let order = try CheckedTransfer(
        Wire.Request(url: "http://127.0.0.1/file", path: "\(folder)/file", network: Wire.NetworkConstraint.none))
      world.daemon.transfers.enqueue([order], of: todo) { ids += $1 }
      world.scheduler.run(for: .zero)
      world.daemon.core.handle(.transferReported(try #require(ids.last), .noSpace(needed: 5)))
    }
    func isWaiting(_ id: TransferID?) -> Bool {
      guard let id, case .noSpace = world.daemon.core.engine.transferState(of: id)?.stage else { return false }
      return true
    }
    #expect(ids.allSatisfy(isWaiting))
    world.space.silent = "/dev/shm/"
    world.scheduler.run(for: .seconds(15))
    #expect(world.space.asked == ["/dev/shm/1", "/dev/shm/2", "/nowhere"], "two threads wait, however many folders")
    #expect(!isWaiting(ids.last) && isWaiting(ids.first))
    world.scheduler.run(for: .minutes(10))
    #expect(world.space.asked.count == 3, "no other thread waits for that disk")
    world.space.speak()
    world.scheduler.run(for: .seconds(30))
    #expect(!ids.contains(where: isWaiting))
  }

  @Test func aFolderIsOnTheFileSystemThatIsMountedNearest() {
    let mounts = MountPoints(
      """
      21 1 0:20 / / rw,relatime - ext4 /dev/sda1 rw
      22 21 0:21 / /mnt/nas rw,relatime shared:1 - nfs4 nas:/ rw
      23 22 0:22 /a /mnt/nas/two\\040words rw - nfs4 nas:/a rw
      half a line
      """)
    #expect(mounts.point(of: "/mnt/nas/films") == "/mnt/nas/")
    #expect(mounts.point(of: "/mnt/nas") == "/mnt/nas/")
    #expect(mounts.point(of: "/mnt/nasty") == "/")
    #expect(mounts.point(of: "/mnt/nas/two words/x") == "/mnt/nas/two words/")
    #expect(MountPoints("").point(of: "/x") == "/")
  }
}
