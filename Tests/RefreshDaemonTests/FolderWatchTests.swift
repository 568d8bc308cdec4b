import Foundation
import RefreshConfig
import RefreshEngine
import Systemd
import Testing

@testable import RefreshDaemon

/// Real folders, watched by the kernel, on a real loop; each step waits for the watch's report of the previous step.
@Suite struct FolderWatchTests {
  /// A change of the folder `notes`.
  struct Change: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let make: @Sendable (TestFolder) throws -> Void
  }

  static let changes = [
    Change(testDescription: "a file is made") { try $0.write("new", "text") },
    Change(testDescription: "a file is written") { try $0.append("old", "more") },
    Change(testDescription: "a file is removed") { try $0.remove("old") },
    Change(testDescription: "a file is moved") { try $0.move("old", to: "older") },
    Change(testDescription: "a file in a folder below is written") { try $0.append("below/deep/old", "more") },
  ]

  @Test(arguments: changes) func `A change is told`(change: Change) throws {
    let stage = try WatchStage()
    try stage.play([("notes watched 3", { try change.make(stage.notes) }), ("notes changed", {})])
    #expect(stage.log == ["mail watched 1", "notes watched 3", "notes changed"])
  }

  @Test func `A look, other modes and other times are no change`() throws {
    let stage = try WatchStage()
    try stage.play([
      (
        "notes watched 3",
        {
          _ = try String(contentsOfFile: stage.notes.path("old"), encoding: .utf8)
          #expect(chmod(stage.notes.path("old"), 0o600) == 0)
          #expect(utimes(stage.notes.path("old"), nil) == 0)
          try stage.mail.write("new", "text")
        }
      ), ("mail changed", {}),
    ])
    #expect(!stage.log.contains("notes changed"))
  }

  @Test func `A folder that is made is watched too`() throws {
    let stage = try WatchStage()
    try stage.play([
      ("notes watched 3", { try stage.notes.make("year/month") }), ("notes changed", {}),
      ("notes watched 5", { try stage.notes.write("year/month/day", "text") }), ("notes changed", {}),
    ])
  }

  @Test func `What was made in a new folder before it is watched is a change`() throws {
    let stage = try WatchStage()
    try stage.play([
      (
        "notes watched 3",
        {
          // Times of files are rounded down to a tick of the kernel.
          stage.lastSeen = EventLoop.wallMicroseconds() - 1_000_000
          try stage.notes.make("year")
        }
      ), ("notes changed", {}), ("notes watched 4", {}), ("notes changed", {}),
    ])
  }

  @Test func `A folder that is moved counts where it is now`() throws {
    let stage = try WatchStage()
    try stage.play([
      ("notes watched 3", { try stage.notes.move("below", to: stage.mail.path("below")) }),
      ("notes watched 1", {}), ("mail watched 3", {}),
    ])
    let later = try WatchStage()
    try later.play([
      ("notes watched 3", { try later.notes.move("below", to: later.path("away")) }), ("notes changed", {}),
      (
        "notes watched 1",
        {
          try TestFolder(root: later.path("away")).write("deep/new", "text")
          try later.mail.write("new", "text")
        }
      ), ("mail changed", {}),
    ])
    #expect(later.log.last == "mail changed")
  }

  @Test func `A folder that is removed, made again and replaced`() throws {
    let stage = try WatchStage()
    try stage.play([
      ("notes watched 3", { try stage.notes.remove("") }), ("notes changed", {}),
      ("notes: it does not exist", { try stage.notes.make("") }),
      ("notes watched 1", { try stage.notes.write("new", "text") }), ("notes changed", { try stage.replaceNotes() }),
      ("notes changed", { try stage.notes.write("new", "text") }), ("notes changed", {}),
    ])
  }

  @Test func `A folder whose folder is moved away`() throws {
    let stage = try WatchStage(below: "home")
    try stage.play([
      (
        "notes watched 3",
        { try FileManager.default.moveItem(atPath: stage.path("home"), toPath: stage.path("elsewhere")) }
      ),
      ("notes: it does not exist", { try stage.notes.make("") }), ("notes watched 1", {}),
    ])
  }

  @Test func `A link that leads to another folder`() throws {
    let stage = try WatchStage()
    try stage.notes.move("", to: stage.path("real"))
    try stage.mail.make("below")
    try stage.link(to: "real")
    try stage.play([
      ("notes watched 3", { try stage.link(to: "mail") }), ("notes watched 2", {}),
      ("notes changed", { try stage.mail.write("below/new", "text") }), ("notes changed", {}),
    ])
  }

  @Test func `A file in the place of the folder`() throws {
    let stage = try WatchStage()
    try stage.play([
      ("notes watched 3", { try stage.notes.remove("") }),
      ("notes: it does not exist", { try Data().write(to: URL(filePath: stage.notes.root)) }),
      ("notes: it is not a folder", {}),
    ])
  }

  @Test func `Lost events are a change of every folder of the user`() throws {
    let stage = try WatchStage()
    let limit = try String(contentsOfFile: "/proc/sys/fs/inotify/max_queued_events", encoding: .utf8)
    let most = try #require(Int(limit.trimmingCharacters(in: .whitespacesAndNewlines)))
    try stage.play([
      (
        "notes watched 3",
        {
          for number in 0...most / 2 {
            let path = stage.notes.path("file\(number)")
            close(open(path, O_CREAT | O_WRONLY, 0o600))
            unlink(path)
          }
        }
      ), ("mail changed", {}), ("notes changed", {}),
    ])
  }

  @Test func `No more folders of a user are watched than the bound`() throws {
    let stage = try WatchStage()
    for number in 0..<OwnerFolders.most { #expect(mkdir(stage.notes.path("more\(number)"), 0o755) == 0) }
    var states: [WatchedState] = []
    stage.onState = { states.append($0) }
    try stage.play([("mail watched 1", {}), ("notes: more than 4096 folders of its owner", {})])
    #expect(states.map(\.folders).reduce(0, +) <= OwnerFolders.most)
  }

  @Test func `The rest of a folder is watched when others leave room`() throws {
    let stage = try WatchStage()
    for number in 0..<OwnerFolders.most { #expect(mkdir(stage.notes.path("more\(number)"), 0o755) == 0) }
    try stage.play([
      (
        "notes: more than 4096 folders of its owner",
        {
          for number in 0..<100 { #expect(rmdir(stage.notes.path("more\(number)")) == 0) }
          stage.folders.watch([stage.watched[1]])
        }
      ), ("notes watched 3999", {}),
    ])
  }

  @Test func `A folder of two apps takes room once`() throws {
    let stage = try WatchStage()
    for number in 0..<3000 { #expect(mkdir(stage.notes.path("more\(number)"), 0o755) == 0) }
    try stage.mail.remove("")
    #expect(symlink(stage.notes.root, stage.mail.root) == 0)
    try stage.play([("mail watched 3003", {}), ("notes watched 3003", {})])
  }

  @Test func `Too many levels cost only what is below them`() throws {
    let stage = try WatchStage()
    try stage.notes.make(Array(repeating: "x", count: 70).joined(separator: "/"))
    try stage.play([
      ("notes: it has more than 64 levels", { try stage.notes.append("below/deep/old", "more") }),
      ("notes changed", {}),
    ])
    #expect(stage.folders.state(of: stage.watched[1]).folders == 67)
  }

  @Test func `The daemon's own state is no change`() throws {
    let stage = try WatchStage(state: "notes/below")
    try stage.play([
      (
        "notes watched 1",
        {
          try stage.notes.write("below/new", "text")
          try stage.notes.append("below/deep/old", "more")
          try stage.mail.write("new", "text")
        }
      ), ("mail changed", {}),
    ])
    #expect(!stage.log.contains("notes changed"))
    for state in ["notes", "."] {
      let refused = try WatchStage(state: state)
      try refused.play([("notes: refreshd keeps its own state there", {})])
    }
  }

  @Test(.enabled(if: geteuid() == 0)) func `A link that leads to what its owner may not read`() throws {
    let stage = try WatchStage(owner: Owner(uid: 12345, gid: 12345, name: "anna", home: "/"))
    try stage.notes.move("", to: stage.path("real"))
    #expect(chmod(stage.path("real"), 0o700) == 0)
    try stage.link(to: "real")
    try stage.play([("mail watched 1", {}), ("notes: its owner may not read it", {})])
    #expect(stage.folders.state(of: stage.watched[1]).folders == 0)
  }

  @Test func `Only what is newer than the last refresh is a change at the first look`() throws {
    let old = try WatchStage()
    old.lastSeen = EventLoop.wallMicroseconds() + 1_000_000
    try old.play([("notes watched 3", { try old.mail.write("new", "text") }), ("mail changed", {})])
    #expect(!old.log.contains("notes changed"))
    let new = try WatchStage()
    new.lastSeen = EventLoop.wallMicroseconds() - 60_000_000
    try new.play([("notes changed", {})])
  }

  @Test func `Folders that are no longer wanted are left alone`() throws {
    let stage = try WatchStage()
    try stage.play([
      (
        "notes watched 3",
        {
          stage.folders.watch([stage.watched[0]])
          try stage.notes.write("new", "text")
          try stage.mail.write("new", "text")
        }
      ), ("mail changed", {}),
    ])
    #expect(!stage.log.contains("notes changed"))
  }
}
