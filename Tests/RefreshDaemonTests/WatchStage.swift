import Foundation
import RefreshConfig
import RefreshEngine
import Systemd
import Testing

@testable import RefreshDaemon

/// A folder that a test changes.
struct TestFolder: Sendable {
  let root: String

  func path(_ name: String) -> String { name.isEmpty ? root : "\(root)/\(name)" }

  func make(_ name: String) throws {
    try FileManager.default.createDirectory(atPath: path(name), withIntermediateDirectories: true)
  }

  func write(_ name: String, _ text: String) throws { try Data(text.utf8).write(to: URL(filePath: path(name))) }

  func append(_ name: String, _ text: String) throws {
    let file = try FileHandle(forWritingTo: URL(filePath: path(name)))
    try file.seekToEnd()
    try file.write(contentsOf: Data(text.utf8))
    try file.close()
  }

  func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: path(name)) }

  func move(_ name: String, to other: String) throws {
    #expect(rename(path(name), other.hasPrefix("/") ? other : path(other)) == 0)
  }
}

/// Two watched folders of one user, `mail` and `notes`, and the events of their watch.
final class WatchStage: FolderWatchOwner {
  let scratch: ScratchDirectory
  private(set) lazy var folders = InotifyFolders(on: loop, stateDirectory: stateDirectory, for: self)
  let (mail, notes): (TestFolder, TestFolder)
  let watched: [WatchedFolder]
  /// The end of the last refresh, in microseconds of the wall clock.
  var lastSeen = Int64.max
  /// Called with each new state of a folder.
  var onState: (WatchedState) -> Void = { _ in }
  /// The reported events, in order: `FOLDER changed`, `FOLDER watched COUNT` and `FOLDER: PROBLEM`.
  private(set) var log: [String] = []
  private let loop: EventLoop
  private let stateDirectory: String
  /// Handles each reported event.
  private var told: ((String) -> Void)?

  /// Makes the two folders in `folder`; `state` is the directory of the daemon's own files.
  init(
    owner: Owner = Owner(uid: geteuid(), gid: getegid(), name: "me", home: "/"), below folder: String = "",
    state: String = "state"
  ) throws {
    (scratch, loop) = (try ScratchDirectory(), try EventLoop())
    stateDirectory = "\(scratch.path)/\(state)"
    let root = folder.isEmpty ? scratch.path : "\(scratch.path)/\(folder)"
    (mail, notes) = (TestFolder(root: "\(root)/mail"), TestFolder(root: "\(root)/notes"))
    let app = try #require(AppID("org.example.notes"))
    watched = ["mail", "notes"].map { WatchedFolder(app: app, name: $0, path: "\(root)/\($0)", owner: owner) }
    try mail.make("")
    try notes.make("below/deep")
    try notes.write("old", "text")
    try notes.write("below/deep/old", "text")
    #expect(chmod(scratch.path, 0o755) == 0)
  }

  func path(_ name: String) -> String { "\(scratch.path)/\(name)" }

  /// Replaces `notes` by a link to another folder, in one step.
  func link(to name: String) throws {
    try FileManager.default.createSymbolicLink(atPath: path("link"), withDestinationPath: path(name))
    #expect(rename(path("link"), notes.root) == 0)
  }

  /// Replaces `notes` by another folder.
  func replaceNotes() throws {
    try TestFolder(root: path("another")).make("")
    try notes.move("", to: path("away"))
    #expect(rename(path("another"), notes.root) == 0)
  }

  /// Watches the folders, and runs each step when an event with its prefix is reported after the previous step's event.
  func play(_ steps: [(event: String, work: () throws -> Void)]) throws {
    var next = 0
    var failure: (any Error)?
    told = { [unowned self] event in
      log.append(event)
      guard next < steps.count, event.hasPrefix(steps[next].event) else { return }
      next += 1
      do { try steps[next - 1].work() } catch { failure = error }
      if next == steps.count || failure != nil { loop.exit(0) }
    }
    folders.watch(watched)
    let bound = try loop.timer { [loop] in loop.exit(1) }
    bound.arm(at: EventLoop.bootMicroseconds() + 90_000_000, accuracy: 1)
    let code = try loop.run()
    if let failure { throw failure }
    #expect(code == 0, "after \(next) steps: \(log)")
  }

  func foldersChanged(_ folders: [WatchedFolder]) { for folder in folders { told?("\(folder.name) changed") } }

  func stateChanged(of folder: WatchedFolder, to state: WatchedState) {
    onState(state)
    told?(state.problem.map { "\(folder.name): \($0)" } ?? "\(folder.name) watched \(state.folders)")
  }

  func seenUntil(_ app: AppID) -> Int64 { lastSeen }
}
