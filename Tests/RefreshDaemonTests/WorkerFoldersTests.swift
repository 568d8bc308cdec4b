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

  @Test func aFolderThatTheManagerCannotOpenIsWrittenWithoutAView() {
    let folders = WorkerFolders()
    #expect(folders.confinement(to: "/a").writes == .folders(["/a"]))
    #expect(folders.confinement(to: nil).writes == .folders([]))
    folders.noteFailedStart(in: "/a", TaskEnd(exit: .exited(75)))
    #expect(folders.confinement(to: "/a").writes == .folders(["/a"]))
    folders.noteFailedStart(in: "/a", TaskEnd(exit: .exited(226)))
    #expect(folders.confinement(to: "/a").writes == .all)
    #expect(folders.confinement(to: "/b").writes == .folders(["/b"]))
  }

  @Test func aUsersManagerMakesNoView() {
    let folder = WorkerConfinement(writes: .folders(["/a"]))
    #expect(names(folder).isSuperset(of: ["ProtectSystem", "ReadWritePaths", "PrivateDevices", "SystemCallFilter"]))
    #expect(names(folder, isUserManager: true).isDisjoint(with: ["ProtectSystem", "PrivateDevices"]))
    #expect(names(folder, isUserManager: true).contains("SystemCallFilter"))
    #expect(!names(WorkerConfinement(writes: .all)).contains("ProtectSystem"))
  }
}
