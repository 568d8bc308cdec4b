import RefreshConfig
import RefreshEngine
import Systemd

/// Watches folders of apps by inotify(7), with an instance and bounds for each user.
///
/// At rest it wakes nobody: no timer runs, and a directory in which nothing happens has no event.
final class InotifyFolders: FolderWatch {
  var onChange: ([WatchedFolder]) -> Void = { _ in }
  var onState: (WatchedFolder, WatchedState) -> Void = { _, _ in }
  var seenUntil: (AppID) -> Int64 = { _ in 0 }

  private let loop: EventLoop
  /// The kernel's table of mounts.
  private let mountTable: String
  private var looks: OwnersLooks<FolderLook>?
  private var users: [UInt32: OwnerFolders] = [:]
  private var mounts: MountTable?
  private var points: Set<String> = []
  /// The problems of folders of users who have no instance.
  private var refused: [WatchedFolder: String] = [:]

  init(on loop: EventLoop, mountTable: String = "/proc/self/mountinfo") {
    (self.loop, self.mountTable) = (loop, mountTable)
  }

  func watch(_ folders: [WatchedFolder]) {
    let byUser = Dictionary(grouping: folders, by: \.owner.uid)
    for user in users.keys where byUser[user] == nil { users[user] = nil }
    refused = refused.filter { byUser[$0.key.owner.uid]?.contains($0.key) == true }
    do {
      if folders.isEmpty { (mounts, looks, points) = (nil, nil, []) } else { try open() }
      for (user, folders) in byUser { try self.folders(of: user).watch(folders) }
    } catch {
      for folder in folders where users[folder.owner.uid] == nil { refuse(folder, "\(error)") }
    }
  }

  func drain(_ user: UInt32, passingOver apps: Set<AppID>) { users[user]?.drain(passingOver: apps) }

  func state(of folder: WatchedFolder) -> WatchedState {
    if let problem = refused[folder] { return WatchedState(problem: problem) }
    return users[folder.owner.uid]?.state(of: folder) ?? WatchedState()
  }

  private func refuse(_ folder: WatchedFolder, _ problem: String) {
    guard refused[folder] != problem else { return }
    refused[folder] = problem
    onState(folder, WatchedState(problem: problem))
  }

  private func open() throws {
    if looks == nil { looks = try OwnersLooks(on: loop) { FolderLook(found: .unknown($0)) } }
    guard mounts == nil else { return }
    let table = try MountTable(mountTable, on: loop)
    points = table.points
    table.onChange = { [unowned self] in mountsChanged() }
    mounts = table
  }

  private func folders(of user: UInt32) throws -> OwnerFolders {
    if let known = users[user] { return known }
    guard let looks else { throw SystemCallError(attempt: "watch folders", code: 0) }
    let new = try OwnerFolders(on: loop, looks)
    new.onChange = { [unowned self] in onChange($0) }
    new.onState = { [unowned self] in onState($0, $1) }
    new.seenUntil = { [unowned self] in seenUntil($0) }
    users[user] = new
    return new
  }

  /// Has the folders looked at anew that other file systems may lie over now.
  private func mountsChanged() {
    guard let mounts else { return }
    let changed = points.symmetricDifference(mounts.points)
    points = mounts.points
    if !changed.isEmpty { for folders in users.values { folders.mountsChanged(at: changed) } }
  }
}
