import ArgumentParser
import RefreshAPI

struct LaunchedCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "launched", abstract: "Mark apps as started in the background.")

  @OptionGroup var arguments: AppsArguments
  @OptionGroup var lease: LeaseOptions

  func run() throws { try lease.send(.launched, to: arguments) }
}

struct ForegroundCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "foreground", abstract: "Mark apps as in the foreground: the user looks at them.")

  @OptionGroup var arguments: AppsArguments
  @OptionGroup var lease: LeaseOptions

  func run() throws { try lease.send(.foreground, to: arguments) }
}

struct BackgroundCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "background", abstract: "Mark apps as in the background.")

  @OptionGroup var arguments: AppsArguments

  func run() throws { try arguments.send(.background) }
}

struct TerminatedCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "terminated", abstract: "Mark apps as quit by the user; their pushes wait until their next start.")

  @OptionGroup var arguments: AppsArguments

  func run() throws { try arguments.send(.terminated) }
}

struct LoginCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "login", abstract: "Mark apps as logged in; their refreshes start again.")

  @OptionGroup var arguments: AppsArguments

  func run() throws { try arguments.send(.login) }
}

struct LogoutCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "logout", abstract: "Mark apps as logged out; they are not refreshed until `login`.")

  @OptionGroup var arguments: AppsArguments

  func run() throws { try arguments.send(.logout) }
}

/// The option of a signal that can last as long as a command.
struct LeaseOptions: ParsableArguments {
  private static let name = "while"

  @Option(
    name: .customLong(name), parsing: .remaining,
    help: ArgumentHelp(
      "Hold the signal for as long as a command runs. Write it last, after `--`; its exit code is passed on.",
      valueName: "command"))
  var words: [String] = []

  /// The command of `--while` and its arguments; nil without `--while`.
  var command: [String]? {
    let command = Array(words.first == "--" ? words.dropFirst() : words[...])
    return command.isEmpty ? nil : command
  }

  func validate() throws {
    // ArgumentParser does not distinguish an option without words from an absent one.
    if words == ["--"] || CommandLine.arguments.last == "--\(Self.name)" {
      throw ValidationError("cannot hold a lease without a command; write it after `--`, as in `--while -- firefox`")
    }
  }

  /// Sends the signal to the apps; with `--while`, for as long as the command runs.
  func send(_ signal: Wire.LifecycleSignal, to arguments: AppsArguments) throws {
    guard let command else { return try arguments.send(signal) }
    let connection = arguments.connection
    let ids = arguments.apps.count > 1 ? try connection.ids(of: arguments.apps) : arguments.apps
    try AppLease.hold(ids, signal, whileRunning: command, over: connection)
  }
}
