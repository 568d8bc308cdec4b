import RefreshConfig
import RefreshEngine

/// A folder that an app's file watches.
struct WatchedFolder: Hashable {
  let app: AppID
  /// The folder as the file names it.
  let name: String
  /// The full path of the folder.
  let path: String
  let owner: Owner

  /// Compares the folders; two apps may watch the same path.
  static func < (left: WatchedFolder, right: WatchedFolder) -> Bool {
    (left.app, left.name) < (right.app, right.name)
  }
}

/// How completely a folder is watched.
struct WatchedState: Hashable {
  /// How many folders are watched, including the folder itself; 0 if none is.
  var folders = 0
  /// Why the folder is not watched completely, as a clause; nil when all is well, and before the first look.
  var problem: String?
}

/// The part of the daemon that folders are watched for.
protocol FolderWatchOwner: AnyObject {
  /// Receives the folders in which something has changed, each once.
  func foldersChanged(_ folders: [WatchedFolder])
  /// Receives the state of a folder, when the watched part or the problem has changed.
  func stateChanged(of folder: WatchedFolder, to state: WatchedState)
  /// The wall time, in microseconds, up to which an app has seen its folders: at the first look only later changes count.
  func seenUntil(_ app: AppID) -> Int64
}

/// Watches folders of apps; ``InotifyFolders`` watches the real folders.
protocol FolderWatch: AnyObject {
  /// Watches these folders, and no others.
  func watch(_ folders: [WatchedFolder])
  /// Reports the changes in a user's folders now, without the pause between two reads.
  ///
  /// Leaves out the own folders of `apps`, because these apps made the changes themselves.
  func drain(_ user: UInt32, passingOver apps: Set<AppID>)
  /// The watched part of a folder, and its problem.
  func state(of folder: WatchedFolder) -> WatchedState
}
