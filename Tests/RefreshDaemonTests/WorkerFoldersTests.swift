import RefreshAPI
import RefreshConfig
import RefreshEngine
import Systemd
import Testing

@testable import RefreshDaemon

/// The folders that workers may write to.
struct WorkerFoldersTests {
  @Test(arguments: [("/home/anna/Mail/a", "/home/anna/Mail"), ("/a", "/")])
  func aDownloadWritesToTheFolderOfItsTarget(path: String, folder: String) {
    func assignment(_ direction: Wire.Direction) -> Wire.Assignment {
      Wire.Assignment(direction: direction, url: "http://h/", path: path, stallMicroseconds: 1)
    }
    #expect(assignment(.download).writtenFolder == folder)
    #expect(assignment(.upload).writtenFolder == nil)
  }

  @Test func aWorkerMovesOnlyFilesWithinItsBounds() {
    let own = Wire.WorkerBounds(writes: "/a", reads: ["/password"])
    let (download, upload) = (Wire.WorkerBounds(writes: "/a", reads: []), Wire.WorkerBounds(reads: ["/a"]))
    #expect(own.holds(own) && own.holds(download) && own.holds(upload))
    #expect(!own.holds(Wire.WorkerBounds(writes: "/b", reads: [])))
    #expect(!own.holds(Wire.WorkerBounds(reads: ["/b"])) && !upload.holds(download) && !download.holds(own))
    #expect(download.variable == #"REFRESH_BOUNDS={"reads":[],"writes":"/a"}"#)
  }

  @Test func aFolderThatTheManagerCannotOpenIsWrittenWithoutAView() {
    let folders = WorkerFolders()
    let keys = (0..<4).map { ProcessKey(run: RunID(start: 1, number: 1), task: $0) }
    for key in keys[..<3] { #expect(folders.confinement(of: key, to: "/a").writes == .folders(["/a"])) }
    #expect(folders.confinement(of: keys[3], to: nil).writes == .folders([]))
    #expect(folders.noteEnd(of: keys[0], TaskEnd(exit: .exited(75))) == nil)
    #expect(folders.unviewable.isEmpty)
    let noView = TaskEnd(exit: .exited(226))
    #expect(folders.noteEnd(of: keys[1], noView) == "/a")
    #expect(folders.noteEnd(of: keys[2], noView) == "/a", "one that was started before the first had failed")
    #expect(folders.confinement(of: keys[1], to: "/a").writes == .all)
    #expect(folders.noteEnd(of: keys[1], noView) == nil, "the folder is not what is wrong")
    #expect(folders.confinement(of: keys[1], to: "/b").writes == .folders(["/b"]))
  }
}

/// The properties that confine tasks and workers in their units.
struct ConfinementTests {
  /// The confinement of a worker or, without `writes`, of a program of the app.
  private func confinement(
    _ level: AppSandbox.Level = .none, of writes: WorkerConfinement.Writes? = nil, uid: UInt32 = 1000,
    isUserManager: Bool = false
  ) throws -> [String: BusArgument] {
    let owner = Owner(uid: uid, gid: uid, name: "tester", home: "/")
    var launch = try launch(["/bin/true"], owner: owner)
    launch.sandbox.level = level
    launch.sandbox.writable = level == .strict ? ["/srv/a"] : []
    launch.sandbox.memoryMax = 1 << 20
    launch.confinement = writes.map(WorkerConfinement.init)
    return Dictionary(launch.confinement(isUserManager: isUserManager).map { ($0.name, $0.value) }) { _, last in last }
  }

  @Test func aUsersManagerMakesNoViewForAWorker() throws {
    let view: Set = ["ProtectSystem", "ReadWritePaths", "PrivateDevices"]
    #expect(try view.isSubset(of: confinement(of: .folders(["/a"])).keys))
    let users = try confinement(of: .folders(["/a"]), isUserManager: true)
    #expect(view.isDisjoint(with: users.keys) && users["SystemCallFilter"] != nil)
    #expect(try confinement(of: .all)["ProtectSystem"] == nil)
  }

  @Test func aUsersManagerMakesTheSandboxInAUserNamespace() throws {
    let machines = try confinement(.strict)
    let users = try confinement(.strict, isUserManager: true)
    #expect(Set(machines.keys).symmetricDifference(users.keys) == ["PrivateUsers", "ProtectProc"])
    #expect(users["PrivateUsers"] == .boolean(true))
    #expect(machines["ReadWritePaths"] == .strings(["-/srv/a"]) && machines["MemoryMax"] == .uint64(1 << 20))
  }

  @Test func theSandboxLeavesRootItsCapabilitiesAndProgramsTheirCompilers() throws {
    #expect(try confinement(.strict)["CapabilityBoundingSet"] == .uint64(0))
    #expect(try confinement(.strict, uid: 0)["CapabilityBoundingSet"] == nil)
    #expect(try confinement(.strict)["MemoryDenyWriteExecute"] == nil)
  }

  @Test func aWorkerInTheSandboxWritesToItsFoldersAndKeepsItsOwnLimits() throws {
    let worker = try confinement(.strict, of: .folders(["/srv/b"]), uid: 0)
    #expect(worker["ReadWritePaths"] == .strings(["-/srv/a"]) && worker["PrivateTmp"] == nil)
    #expect(worker["MemoryMax"] == .uint64(256 << 20) && worker["MemoryDenyWriteExecute"] == .boolean(true))
    #expect(worker["CapabilityBoundingSet"] == .uint64(0))
    #expect(try confinement(.strict, of: .all)["ProtectSystem"] == .string("strict"))
  }

  @Test func withoutASandboxOnlyMemoryIsBounded() throws {
    #expect(try confinement() == ["MemoryMax": .uint64(1 << 20)])
  }
}
