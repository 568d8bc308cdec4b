import RefreshConfig
import RefreshEngine
import RefreshStore

/// Tells the engine of changes in the folders that apps' files watch.
final class LocalChanges: DecisionObserver, FolderWatchOwner {
  private unowned let core: DaemonCore
  private lazy var folders = makeFolders?(self)
  private let makeFolders: ((any FolderWatchOwner) -> any FolderWatch)?
  private let journal: DaemonJournal
  private let lastRefreshes: LastRefreshes
  /// The users of the apps with watched folders.
  private var users: [AppID: UInt32] = [:]
  /// The problems that were written to the journal.
  private var troubles: [WatchedFolder: String] = [:]

  init(_ core: DaemonCore, _ ports: Ports, _ lastRefreshes: LastRefreshes) {
    (self.core, makeFolders, journal, self.lastRefreshes) = (core, ports.folders, ports.journal, lastRefreshes)
  }

  /// Watches the folders of the configuration in force, once the last refreshes are known: later changes happened while no
  /// daemon ran.
  func reconfigured() {
    users = [:]
    for app in core.configuration.apps where !app.policy.watch.isEmpty { users[app.id] = app.owner.uid }
    lastRefreshes.onceLoaded { [self] in
      let wanted = core.configuration.apps.flatMap(Self.folders)
      let folders = Set(wanted)
      troubles = troubles.filter { folders.contains($0.key) }
      self.folders?.watch(wanted)
    }
  }

  func observe(_ decision: Decision, on event: Event, at now: Instant) {
    guard !users.isEmpty else { return }
    let ended = Set(decision.changes.history.refreshes.map(\.app).filter { users[$0] != nil })
    guard !ended.isEmpty else { return }
    let owners = Set(ended.compactMap { users[$0] })
    // The last writes of a refresh are its own work; later writes are not.
    core.scheduler.soon { [self] in for user in owners.sorted() { folders?.drain(user, passingOver: ended) } }
  }

  /// The watched folders of an app with their states, in the order of its file.
  func states(of app: AppConfiguration) -> [(folder: WatchedFolder, state: WatchedState)] {
    Self.folders(of: app).map { ($0, folders?.state(of: $0) ?? WatchedState()) }
  }

  private static func folders(of app: AppConfiguration) -> [WatchedFolder] {
    guard app.policy.unusable == nil else { return [] }
    return app.watchedFolders.map { WatchedFolder(app: app.id, name: $0.name, path: $0.path, owner: app.owner) }
  }

  // MARK: - Folders

  func foldersChanged(_ changed: [WatchedFolder]) {
    let events = changed.map { Event.changed($0.app, in: $0.name) }
    if events.count == 1 { core.handle(events[0]) } else if !events.isEmpty { core.handle(.several(events)) }
  }

  /// The wall time, in microseconds, up to which an app has seen its folders: a little after its last refresh.
  ///
  /// The margin covers the app's last writes.
  func seenUntil(_ app: AppID) -> Int64 {
    let state = core.engine.state(of: app)
    if state?.running != nil { return .max }
    let start = state?.lastStart.map(core.wall) ?? 0
    let end = lastRefreshes[app].map { $0.startedWallMicroseconds + $0.duration.inMicroseconds } ?? 0
    return max(start, end) + LocalChange.ownWritesSpan.inMicroseconds
  }

  func stateChanged(of folder: WatchedFolder, to state: WatchedState) {
    let problem = state.problem
    guard troubles[folder] != problem else { return }
    troubles[folder] = problem
    if let problem { journal.cannotWatch(folder, problem) } else { journal.watchesAgain(folder) }
  }
}
