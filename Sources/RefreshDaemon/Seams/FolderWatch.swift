import RefreshConfig
import RefreshEngine

/// A folder that an app's file has watched.
struct WatchedFolder: Hashable {
  let app: AppID
  /// The folder as the file names it.
  let name: String
  /// Its whole path.
  let path: String
  let owner: Owner

  /// Compares the folders; two with one path may be of two apps.
  static func < (left: WatchedFolder, right: WatchedFolder) -> Bool {
    (left.app, left.name) < (right.app, right.name)
  }
}

/// How much of a folder is watched.
struct WatchedState: Hashable {
  /// How many folders are watched: it and those below it; 0 while none is.
  var folders = 0
  /// Why it is not watched, or not wholly, as a clause; nil when all is well, and before the first look.
  var problem: String?
}

/// The watch on folders of apps; ``InotifyFolders`` watches the real ones.
protocol FolderWatch: AnyObject {
  /// Called with the folders in which something has changed, each once.
  var onChange: ([WatchedFolder]) -> Void { get set }
  /// Called when more or less of a folder is watched than before, or its problem is another one.
  var onState: (WatchedFolder, WatchedState) -> Void { get set }
  /// Until when an app has seen its folders, in microseconds of the wall clock: only what is newer is a change when a
  /// folder is watched for the first time.
  var seenUntil: (AppID) -> Int64 { get set }

  /// Watches these folders, and no others.
  func watch(_ folders: [WatchedFolder])
  /// Reports now what has changed in folders of a user, without the pause between two reads.
  ///
  /// - Parameter apps: the apps that have made the changes in their own folders, of which nothing is reported.
  func drain(_ user: UInt32, passingOver apps: Set<AppID>)
  /// How much of a folder is watched.
  func state(of folder: WatchedFolder) -> WatchedState
}
