import RefreshAPI
import RefreshConfig
import RefreshEngine
import Systemd
import Varlink

/// Everything outside itself that a daemon uses.
///
/// A test gives other ports than ``Service`` does.
struct Ports {
  let settings: DaemonSettings
  let scheduler: any Scheduler
  let store: any DaemonStore
  let launcher: any Launcher
  /// The name of the launcher, and the reason for it.
  let choice: ChosenLauncher.Choice
  let conditions: any MachineConditions
  let zone: () throws(SystemdError) -> any ZoneSource
  let files: any ConfigurationFiles
  /// Watches folders of apps; nil for a daemon that watches none.
  let folders: (any FolderWatch)?
  /// Makes a question for disk space, with its own thread.
  let diskSpace: () -> DiskSpaceWatch.Question
  let forecast: (Forecaster.Question, @escaping (ManagerInterface.Forecast.Reply) -> Void) -> Void
  /// Watches the sockets of clients; nil for a daemon without a socket.
  let reactor: (any Reactor)?
  let journal: DaemonJournal
  /// Sends the service manager a notice, if there is one, and the line that `systemctl status` shows.
  let notify: (Notify?, String) throws(SystemdError) -> Void
  /// Gives memory back that was needed for a while only.
  let trimMemory: () -> Void
  let access: Access
}

/// The configuration on disk.
protocol ConfigurationFiles: AnyObject {
  /// The folders that are read.
  var directories: [String] { get }
  /// Reads the configuration as a start does: a mistake in an app's file holds that app only.
  func read(then answer: @escaping (Result<Configuration, ConfigurationError>) -> Void)
  /// Answers with every mistake on disk, in the push bridge's file too.
  func problems(then answer: @escaping ([Problem]) -> Void)
  /// Has the next question not wait for the one that is under way.
  func giveUp()
}
