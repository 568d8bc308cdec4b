import Glibc
import Testing

@testable import refresh_worker

/// A path to a target is opened without following symbolic links.
struct FolderTests {
  @Test(arguments: ["", "x", "a/b", "/", "/a/", "/a//b", "/a/./b", "/a/../b", "/..", "/a/..", "/a\0b"])
  func isNoPathOfAFile(path: String) {
    #expect(throws: TaskFailure.self) { try Folder.split(path) }
  }

  @Test func aPathIsAFolderAndAName() throws {
    #expect(try Folder.split("/a/b.c") == ("/a", "b.c"))
    #expect(try Folder.split("/b").folder == "")
  }

  @Test func aLinkOnTheWayIsNamed() throws {
    let scratch = try ScratchFolder()
    mkdir("\(scratch.path)/real", 0o700)
    mkdir("\(scratch.path)/real/inner", 0o700)
    symlink("real", "\(scratch.path)/link")
    #expect(try Folder(path: "\(scratch.path)/real/inner").descriptor >= 0)
    do throws(TaskFailure) {
      _ = try Folder(path: "\(scratch.path)/link/inner")
      Issue.record("a link was followed")
    } catch {
      #expect(error.kind == .failed)
      #expect(error.message.contains("\(scratch.path)/link is a symbolic link; give the real path"))
    }
  }

  @Test func whatIsMissingOrNoFolderIsNamed() throws {
    let scratch = try ScratchFolder()
    try scratch.write("", to: "file")
    for name in ["missing", "file"] {
      do throws(TaskFailure) {
        _ = try Folder(path: "\(scratch.path)/\(name)/x")
        Issue.record("\(name) was taken for a folder")
      } catch {
        #expect(error.kind == .failed)
        #expect(error.message.contains("\(scratch.path)/\(name):"))
      }
    }
  }

  @Test func itStaysTheSameWhenItsPathBecomesALink() throws {
    let scratch = try ScratchFolder()
    mkdir("\(scratch.path)/real", 0o700)
    mkdir("\(scratch.path)/other", 0o700)
    let folder = try Folder(path: "\(scratch.path)/real")
    rename("\(scratch.path)/real", "\(scratch.path)/moved")
    symlink("other", "\(scratch.path)/real")
    try PartFile(in: folder, for: "f").append("x")
    #expect(scratch.text(of: "moved/f.part") == "x")
    #expect(scratch.status(of: "other/f.part") == nil)
  }

  /// The folder /proc is on no disk, and its fsync(2) fails with EINVAL.
  @Test func aFolderThatHasNothingToMakeDurableIsNoTrouble() throws {
    for path in ["/proc", "/var/tmp"] {
      let folder = open(path, O_RDONLY | O_DIRECTORY)
      defer { close(folder) }
      #expect(FolderNames.makeDurable(in: folder) == nil)
    }
    #expect(FolderNames.makeDurable(in: -1) == EBADF)
  }
}
