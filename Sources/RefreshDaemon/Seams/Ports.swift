import RefreshAPI
import RefreshConfig
import RefreshEngine
import Systemd
import Varlink

/// The ports of the daemon: everything outside that it uses.
///
/// ``Service`` makes the real ports; a test gives others.
struct Ports {
  let settings: DaemonSettings
  let scheduler: any Scheduler
  let store: any DaemonStore
  let processes: Processes
  /// The name of the launcher, and the reason for it.
  let choice: ChosenLauncher.Choice
  /// Makes the conditions of the machine, which report to an observer.
  let conditions: (any MachineObserver) -> any MachineConditions
  /// Makes the time zone of the machine, which reports each change.
  let zone: (@escaping (Zone) -> Void) throws(SystemdError) -> any ZoneSource
  let files: any ConfigurationFiles
  /// Makes the watch on folders of apps; nil if the daemon watches none.
  let folders: ((any FolderWatchOwner) -> any FolderWatch)?
  /// Makes a question for disk space, with its own thread.
  let diskSpace: () -> DiskSpaceWatch.Question
  /// Goes on with a forecast, on the thread of all forecasts.
  let forecast: Forecasts.Work
  /// Watches the sockets of clients; nil for a daemon without a socket.
  let reactor: (any Reactor)?
  let journal: DaemonJournal
  /// Sends the service manager a notice, if any, and the line that `systemctl status` shows.
  let notify: (Notify?, String) throws(SystemdError) -> Void
  /// Returns memory that was needed only for a while.
  let trimMemory: () -> Void
  let access: Access
}

/// The configuration on disk.
protocol ConfigurationFiles: AnyObject {
  /// The folders of the configuration.
  var directories: [String] { get }
  /// Reads the configuration as a start does: a mistake in an app's file holds that app only.
  func read(then answer: @escaping (Result<Configuration, ConfigurationError>) -> Void)
  /// Answers with every mistake on disk, in the push bridge's file too.
  func problems(then answer: @escaping ([Problem]) -> Void)
  /// Lets the next question begin without waiting for the present one.
  func giveUp()
}

/// Receives what ``MachineConditions`` observe.
package protocol MachineObserver: AnyObject {
  /// Receives the first reading of each condition, and every change.
  func observed(_ observation: Observation)
  /// Receives true before the machine sleeps, and false when it is awake again.
  func sleeps(_ isAsleep: Bool)
  /// Receives the users who have sessions after each answer of logind, also if they are the same as before.
  func sessionsChanged(_ users: Set<UInt32>)
}

/// The conditions of the machine for the daemon; ``ConditionSources`` reads the real machine.
protocol MachineConditions: AnyObject {
  /// How long logind delays sleep after announcing it, in microseconds.
  var timeToSleep: Int64 { get }

  func start(needs: ConditionNeeds, facts: Set<NamedFact>) throws(SystemdError)
  func delaySleep(_ isDelayed: Bool)
  func askLingering(of user: UInt32, answer: @escaping (Bool) -> Void)
}

extension ConditionSources: MachineConditions {}

/// The time zone of the machine; ``LocalZone`` reads the real zone.
protocol ZoneSource: AnyObject {
  var zone: Zone { get }

  /// Reads the zone again, after a step of the wall clock.
  func look()
}

extension LocalZone: ZoneSource {}

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
