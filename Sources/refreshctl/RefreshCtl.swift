import ArgumentParser
@preconcurrency import Glibc
import RefreshAPI

/// The root command.
struct RefreshCtl: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "refreshctl",
    abstract: "Ask and tell refreshd, which keeps the data of apps fresh.",
    discussion: """
      The daemon is found by --socket, else $REFRESH_SOCKET, else the user's own daemon, else the system's.

      Ends with:
      \(ExitStatus.list)
      """,
    version: refreshdVersion,
    subcommands: [],
    groupedSubcommands: [
      CommandGroup(
        name: "Asking",
        subcommands: [
          ListCommand.self, StatusCommand.self, WhyCommand.self, UsageCommand.self, ForecastCommand.self,
          HistoryCommand.self,
          WatchCommand.self, TimelineCommand.self, MetricsCommand.self, VersionCommand.self,
        ]),
      CommandGroup(
        name: "Signals",
        subcommands: [
          LaunchedCommand.self, ForegroundCommand.self, BackgroundCommand.self, TerminatedCommand.self,
          LoginCommand.self, LogoutCommand.self,
        ]),
      CommandGroup(name: "Planning", subcommands: [RehearseCommand.self]),
      CommandGroup(name: "Refreshing", subcommands: [RunCommand.self, PushCommand.self, CompleteCommand.self]),
      CommandGroup(
        name: "Background transfers",
        subcommands: [
          DownloadCommand.self, UploadCommand.self, TransfersCommand.self, PauseTransferCommand.self,
          ResumeTransferCommand.self, CancelTransferCommand.self, PrioritizeTransferCommand.self,
        ]),
      CommandGroup(
        name: "The user's word",
        subcommands: [
          DisableCommand.self, EnableCommand.self, SkipCommand.self, PauseCommand.self, ResumeCommand.self,
        ]),
      CommandGroup(
        name: "Configuring",
        subcommands: [SetCommand.self, ResetCommand.self, CheckCommand.self, ReloadCommand.self]),
    ])
}

/// Where the process starts: the errors of the command line are ArgumentParser's to tell, all others are ours.
@main enum Main {
  static func main() {
    do {
      var command = try RefreshCtl.parseAsRoot()
      try command.run()
    } catch let failure as Failure {
      warn(failure.text)
      exit(failure.status.rawValue)
    } catch {
      RefreshCtl.exit(withError: error)
    }
  }
}
