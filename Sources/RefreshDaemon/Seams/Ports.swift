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
