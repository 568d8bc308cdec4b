import RefreshConfig
import RefreshEngine

@testable import RefreshDaemon

/// The watched folders as one life of the daemon sees them: looked at late, told of late, and at times not readable.
final class SimulatedFolders: FolderWatch {
  private weak var owner: (any FolderWatchOwner)?
  private unowned let world: SimulatedWorld
  private var wanted: [WatchedFolder] = []
  /// The folders that were looked at, with their states.
  private var states: [WatchedFolder: WatchedState] = [:]
  /// The changes that the kernel keeps until they are read.
  private var unread: [WatchedFolder] = []

  init(_ world: SimulatedWorld) { self.world = world }

  /// Reports to the daemon from now on.
  func report(to owner: any FolderWatchOwner) -> SimulatedFolders {
    self.owner = owner
    return self
  }

  func watch(_ folders: [WatchedFolder]) {
    guard world.calling() != nil else { return }
    for folder in folders where !wanted.contains(folder) { lookSoon(folder) }
    wanted = folders
    states = states.filter { folders.contains($0.key) }
    unread.removeAll { !folders.contains($0) }
  }

  func drain(_ user: UInt32, passingOver apps: Set<AppID>) {
    guard world.life?.isAlive == true else { return }
    let changed = unread.filter { !apps.contains($0.app) }
    unread = []
    tell(changed)
  }

  func state(of folder: WatchedFolder) -> WatchedState { states[folder] ?? WatchedState() }

  private func lookSoon(_ folder: WatchedFolder) {
    world.later(world.fate.duration(.milliseconds(5) ... .seconds(5))) { [unowned self] in look(folder) }
  }

  private func look(_ folder: WatchedFolder) {
    guard wanted.contains(folder) else { return }
    set(folder, WatchedState(folders: 1))
    if let newest = world.book.changes.newest[folder.path], newest > owner?.seenUntil(folder.app) ?? 0 {
      tell([folder])
    }
  }

  private func set(_ folder: WatchedFolder, _ state: WatchedState) {
    states[folder] = state
    owner?.stateChanged(of: folder, to: state)
  }

  private func tell(_ folders: [WatchedFolder]) {
    let folders = Array(Set(folders)).sorted { $0 < $1 }
    guard !folders.isEmpty else { return }
    world.note("changes in \(folders.map(\.path))")
    world.book.changes.told(folders.map(\.app))
    if world.fault != .losesChanges { owner?.foldersChanged(folders) }
  }

  /// Something changes in the folder of an app.
  func change(_ app: AppID) {
    guard let folder = wanted.first(where: { $0.app == app }), let state = states[folder], state.problem == nil else {
      return
    }
    unread.append(folder)
    world.later(world.fate.duration(.zero ... .seconds(2))) { [unowned self] in
      let changed = unread
      unread = []
      tell(changed)
    }
  }

  /// The owner of an app may not read its folder for a while.
  func lock(_ app: AppID) {
    guard let folder = wanted.first(where: { $0.app == app }), states[folder]?.problem == nil else { return }
    set(folder, WatchedState(problem: "it cannot be read"))
    world.later(world.fate.duration(.minutes(1) ... .hours(2))) { [unowned self] in look(folder) }
  }
}
