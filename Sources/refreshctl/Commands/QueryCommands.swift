import ArgumentParser
@preconcurrency import Glibc
import RefreshAPI

struct ListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the apps: phase, next refresh, last outcome, age of the data.",
    aliases: ["apps"])

  @OptionGroup var connection: ConnectionOptions

  @Flag(help: "List what is open on your desktop now, with the id of each for `desktop` in an app's file.")
  var desktop = false

  func validate() throws {
    if desktop, connection.json {
      throw ValidationError("cannot print what is open on the desktop as JSON; leave out --json or --desktop")
    }
  }

  func run() throws {
    guard desktop else { return try connection.ask(ManagerInterface.List.self, .init()) { $0.text($1) } }
    throw listDesktop()
  }

  /// Replaces this process by `refresh-session --list`; returns only if that fails.
  ///
  /// Prefers the program of the same installation.
  private func listDesktop() -> Failure {
    let program = "refresh-session"
    var own = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let length = own.withUnsafeMutableBytes { bytes in
      bytes.withMemoryRebound(to: CChar.self) { text in
        text.baseAddress.map { readlink("/proc/self/exe", $0, text.count) } ?? 0
      }
    }
    own.removeLast(own.count - max(0, length))
    let folder = String(decoding: own, as: UTF8.self).split(separator: "/").dropLast().joined(separator: "/")
    var arguments: [UnsafeMutablePointer<CChar>?] = [strdup(program), strdup("--list"), nil]
    defer { for argument in arguments { free(argument) } }
    execv("/\(folder)/\(program)", &arguments)
    execvp(program, &arguments)
    return Failure(
      status: .notFound,
      text: "cannot start \(program): \(errorText(errno)); install the package \(program)")
  }
}

struct StatusCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Show the state of an app, or of the daemon.")

  @Argument(help: "The id of the app, or a part of it; the daemon itself if absent.", completion: .apps)
  var app: String?

  @OptionGroup var connection: ConnectionOptions

  func run() throws {
    if let app {
      try connection.naming(app) { id throws(Failure) in
        try connection.ask(ManagerInterface.Show.self, .init(app: id)) { $0.text($1.app) }
      }
    } else {
      let reply = try DaemonClient(connection).call(ManagerInterface.Status.self, .init())
      warnOfDifference(daemonVersion: reply.status.version)
      try connection.show(reply) { $0.text(reply.status) }
    }
  }
}

struct WhyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "why", abstract: "Explain when an app is refreshed next, what holds it, and what happened before.")

  @OptionGroup var arguments: AppArguments

  func run() throws {
    try arguments.ask(
      ManagerInterface.Why.self, { .init(app: $0) }, lines: { screen, reply, _ in screen.text(reply.why) })
  }
}

struct UsageCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "usage",
    abstract: "Show what the daemon has learnt about an app: when it is opened, when it has new data.",
    discussion: """
      The scheduler uses these numbers to plan the next refresh. The table [pin] in the app's file replaces a learnt \
      number with a fixed one.
      """)

  @Flag(help: "Forget the learnt numbers and the openings that desktops showed, and learn them again.")
  var forget = false

  @OptionGroup var arguments: AppArguments

  func run() throws {
    if forget {
      try arguments.ask(
        ManagerInterface.Forget.self, { .init(apps: [$0]) }, lines: { screen, reply, _ in screen.text(reply.apps) })
    } else {
      try arguments.ask(ManagerInterface.Usage.self, { .init(app: $0) }) { screen, reply, app in
        reply.habits.map { screen.text($0, reported: reply.openingsTold, observed: reply.openingsObserved) }
          ?? screen.wrapped("Nothing is learnt about \(app) yet: it has not been refreshed, or its interval is fixed.")
      }
    }
  }
}

struct ForecastCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "forecast", abstract: "Show which refreshes will start when, and why other apps have none.",
    discussion: """
      The daemon's scheduler computes the forecast. It assumes that each refresh ends at once with no data, that nobody \
      opens or leaves an app, that nothing is pushed, and that the network, the power supply and the user's switches \
      stay as they are.
      """)

  @Argument(help: "The id of the app, or a part of it; all apps if absent.", completion: .apps)
  var app: String?

  @Option(help: ArgumentHelp("How far to look ahead, 1 to 168.", valueName: "number"))
  var hours = 24

  @OptionGroup var connection: ConnectionOptions

  func validate() throws { try checkHours(hours) }

  func run() throws {
    try connection.naming(app.map { [$0] } ?? []) { ids throws(Failure) in
      try connection.ask(ManagerInterface.Forecast.self, .init(hours: hours, app: ids.first)) { $0.text($1) }
    }
  }
}

struct HistoryCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "history", abstract: "Show the last refreshes of an app, the newest first.")

  @Option(help: ArgumentHelp("How many to show at most.", valueName: "number"))
  var limit = 20

  @OptionGroup var arguments: AppArguments

  func validate() throws {
    if limit < 1 { throw ValidationError("cannot show \(limit) refreshes; give a --limit of 1 or more") }
  }

  func run() throws {
    try arguments.ask(
      ManagerInterface.History.self, { .init(app: $0, limit: limit) }, lines: { $0.text($1, of: $2) })
  }
}

struct WatchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch", abstract: "Print events as they happen, one line each.",
    discussion: """
      Ends on Ctrl-C. When the daemon ends, as for a restart, it connects again. With --json each line is one JSON \
      object; `watching` is the first one of each connection.
      """)

  @Argument(help: "The ids of the apps; all apps if absent.", completion: .apps)
  var apps: [String] = []

  @OptionGroup var connection: ConnectionOptions

  func run() throws {
    try connection.naming(apps) { ids throws(Failure) in
      let parameters = ManagerInterface.Watch.Parameters(apps: ids.isEmpty ? nil : ids)
      try connection.follow(ManagerInterface.Watch.self, parameters) { reply throws(Failure) in
        if connection.json { return try connection.showStep(reply.event) }
        let screen = Screen(of: STDOUT_FILENO)
        guard let line = screen.line(reply.event) else { return }
        print(screen.encoded(line))
        StandardOutput.flush()
      }
    }
  }
}

struct MetricsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "metrics", abstract: "Print the daemon's metrics as OpenMetrics text.")

  @OptionGroup var connection: ConnectionOptions

  func run() throws {
    try connection.ask(ManagerInterface.Metrics.self, .init()) {
      $1.text.split(separator: "\n").map { printable(String($0)) }
    }
  }
}

struct VersionCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "version", abstract: "Show the versions of this command and of the daemon.")

  @Flag(help: "Show only the version of this command; needs no daemon.")
  var client = false

  @OptionGroup var connection: ConnectionOptions

  func run() throws {
    if client {
      try connection.show(["version": refreshdVersion]) { _ in ["refreshctl \(refreshdVersion)"] }
      return
    }
    let reply = try DaemonClient(connection).call(ManagerInterface.Version.self, .init())
    warnOfDifference(daemonVersion: reply.version)
    try connection.show(reply) { _ in
      ["refreshctl \(refreshdVersion)", "refreshd \(printable(reply.version)), start \(reply.start)"]
    }
  }
}

/// Warns if the daemon has another version than this command.
func warnOfDifference(daemonVersion: String) {
  if daemonVersion != refreshdVersion {
    warn("the daemon is version \(printable(daemonVersion)), this command is \(refreshdVersion); restart the daemon")
  }
}
