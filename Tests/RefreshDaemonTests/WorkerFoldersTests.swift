import RefreshAPI
import RefreshEngine
import Testing

@testable import RefreshDaemon

/// The folders that workers may write to.
struct WorkerFoldersTests {
  private func names(_ confinement: WorkerConfinement, isUserManager: Bool = false) -> Set<String> {
    Set(confinement.properties(isUserManager: isUserManager).map(\.name))
  }

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
    let keys = (0..<4).map { TaskKey(refresh: RefreshID(start: 1, number: 1), task: $0) }
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

  @Test func aUsersManagerMakesNoView() {
    let folder = WorkerConfinement(writes: .folders(["/a"]))
    #expect(names(folder).isSuperset(of: ["ProtectSystem", "ReadWritePaths", "PrivateDevices", "SystemCallFilter"]))
    #expect(names(folder, isUserManager: true).isDisjoint(with: ["ProtectSystem", "PrivateDevices"]))
    #expect(names(folder, isUserManager: true).contains("SystemCallFilter"))
    #expect(!names(WorkerConfinement(writes: .all)).contains("ProtectSystem"))
  }
}
