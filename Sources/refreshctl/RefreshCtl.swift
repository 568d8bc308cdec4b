import ArgumentParser
@preconcurrency import Glibc
import RefreshAPI

struct RefreshCtl: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "refreshctl",
    abstract: "Control refreshd, the daemon that keeps the data of apps fresh.",
    discussion: """
      The socket of the daemon is that of --socket, else $REFRESH_SOCKET, else the user's own daemon, else the \
      system's daemon.

      Exit status:
      \(ExitStatus.list)
      """,
    version: refreshdVersion,
    subcommands: [],
    groupedSubcommands: [
      CommandGroup(
        name: "Query",
        subcommands: [
          ListCommand.self, StatusCommand.self, WhyCommand.self, UsageCommand.self, ForecastCommand.self,
          HistoryCommand.self, WatchCommand.self, TimelineCommand.self, MetricsCommand.self, VersionCommand.self,
        ]),
      CommandGroup(
        name: "Signal",
        subcommands: [
          LaunchedCommand.self, ForegroundCommand.self, BackgroundCommand.self, TerminatedCommand.self,
          LoginCommand.self, LogoutCommand.self,
        ]),
      CommandGroup(name: "Planning", subcommands: [RehearseCommand.self]),
      CommandGroup(
        name: "Refresh",
        subcommands: [
          RunCommand.self, PushCommand.self, CompleteCommand.self, SyncedCommand.self,
        ]),
      CommandGroup(
        name: "Background transfer",
        subcommands: [
          DownloadCommand.self, UploadCommand.self, TransfersCommand.self, PauseTransferCommand.self,
          ResumeTransferCommand.self, CancelTransferCommand.self, PrioritizeTransferCommand.self,
        ]),
      CommandGroup(
        name: "Switch",
        subcommands: [
          DisableCommand.self, EnableCommand.self, SkipCommand.self, PauseCommand.self, ResumeCommand.self,
        ]),
      CommandGroup(
        name: "Configuration",
        subcommands: [SetCommand.self, ResetCommand.self, CheckCommand.self, ReloadCommand.self, ForgetCommand.self]),
    ])
}

/// The entry point: ArgumentParser prints the errors of the command line, this program prints all others.
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
