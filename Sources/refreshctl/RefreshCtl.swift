import ArgumentParser
@preconcurrency import Glibc
import RefreshAPI

struct RefreshCtl: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "refreshctl",
    abstract: "Control refreshd, the daemon that keeps the data of apps fresh.",
    discussion: """
      refreshctl uses the socket of --socket, else $REFRESH_SOCKET, else your own daemon, else the system's daemon. \
      Without a subcommand it shows what is going on and what to do next. With -H [USER@]HOST, before or after the \
      subcommand, refreshctl runs on that machine over ssh; the exit status is 255 if it cannot be reached. \
      `refreshctl help TOPIC` opens a manual page or another page, and `refreshctl help topics` lists the topics.

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
          HistoryCommand.self, WatchCommand.self, TopCommand.self, TimelineCommand.self, MetricsCommand.self,
          VersionCommand.self,
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
          RunCommand.self, ExpireCommand.self, PushCommand.self, CompleteCommand.self, SyncedCommand.self,
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
        subcommands: [
          NewCommand.self, SetCommand.self, ResetCommand.self, CheckCommand.self, ReloadCommand.self,
          ForgetCommand.self, AdoptCommand.self, UnadoptCommand.self,
        ]),
    ])

  func run() throws { try Self.showOverview(socket: nil) }

  /// Prints the overview and the next steps: the answer without a subcommand.
  static func showOverview(socket: String?) throws(Failure) {
    let screen = Screen(of: STDOUT_FILENO)
    let lines: [String]
    do throws(Failure) {
      lines = screen.overview(
        try DaemonClient(socket: socket, .ofOverview).call(ManagerInterface.Status.self, .init()).status)
    } catch {
      guard error.status == .noDaemon else { throw error }
      lines = screen.overview(without: SocketPath.find(named: socket))
    }
    for line in lines { print(screen.encoded(line)) }
  }
}

/// The entry point; prints all errors in one form, including those of the command line.
@main enum Main {
  static func main() {
    StandardOutput.checkAtExit()
    var arguments = Array(CommandLine.arguments.dropFirst())
    do {
      let host = try RemoteHost.remove(from: &arguments)
      LeadingOptions.move(in: &arguments, behind: RefreshCtl.commandNames)
      if let topic = HelpTopic.asked(in: arguments) { try open(topic, host: host, arguments) }
      if let socket = LeadingOptions.socketAlone(in: arguments) {
        if let host { try host.run(arguments) }
        return try RefreshCtl.showOverview(socket: socket)
      }
      var command = try RefreshCtl.parseAsRoot(arguments)
      // A mistake in the command line is found before ssh runs.
      if let host { try host.run(arguments) }
      try command.run()
    } catch let failure as Failure {
      warn(failure.text)
      exit(failure.status.rawValue)
    } catch {
      if let text = RefreshCtl.refusal(of: error, in: CommandLine.arguments) {
        warn(text)
        exit(ExitStatus.usage.rawValue)
      }
      // The help, the version, a completion script, or the exit status of a command.
      RefreshCtl.exit(withError: error)
    }
  }

  /// Opens the topic of `help TOPIC`, on the other machine if one is named.
  private static func open(_ topic: String, host: RemoteHost?, _ arguments: [String]) throws(Failure) -> Never {
    if let host { try host.run(arguments) }
    if topic == HelpTopic.list {
      let screen = Screen(of: STDOUT_FILENO)
      for line in HelpTopic.lines(on: screen) { print(screen.encoded(line)) }
      exit(ExitStatus.done.rawValue)
    }
    try TopicReader().open(HelpTopic(topic))
  }
}

extension RefreshCtl {
  /// Every subcommand by its name and its other names.
  static var commandNames: [String] {
    configuration.groupedSubcommands.flatMap { group in
      group.subcommands.flatMap { command in
        [command.configuration.commandName].compactMap(\.self) + command.configuration.aliases
      }
    }
  }

  /// The message about a mistake in a command line; nil for an error that is not a mistake, such as a request for help.
  static func refusal(of error: Error, in arguments: [String]) -> String? {
    guard exitCode(for: error).rawValue == ExitStatus.usage.rawValue else { return nil }
    let message = message(for: error)
    guard !message.isEmpty else { return nil }
    // The messages of this program name a remedy already.
    if message.hasPrefix("cannot ") { return message }
    let command = arguments.dropFirst().first.flatMap { commandNames.contains($0) ? $0 + " " : nil } ?? ""
    let problem = message.prefix(1).lowercased() + message.dropFirst()
    let word = arguments.dropFirst().first ?? ""
    let isNoCommand = command.isEmpty && message.contains("nexpected argument") && !word.hasPrefix("-")
    let like = isNoCommand ? Suggestions.texts(like: word, among: commandNames) : []
    let question = like.isEmpty ? "" : "did you mean \(like.joined(separator: " or "))? "
    return "cannot read the command line: \(problem); \(question)see `refreshctl \(command)--help`"
  }
}
