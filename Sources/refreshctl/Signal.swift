import ArgumentParser
import RefreshAPI

/// What every signal takes.
struct SignalArguments: ParsableArguments {
  @Argument(help: "The id of the app.", completion: .apps)
  var app: String

  @OptionGroup var connection: ConnectionOptions

  /// Sends the signal and tells the phase that the app is in after it.
  func send(_ signal: Wire.LifecycleSignal) throws {
    let reply = try Daemon(connection).call(AppInterface.Signal.self, .init(app: app, signal: signal))
    try connection.show(reply) { _ in ["\(app) is \(reply.phase.words)."] }
  }
}

/// What a signal takes that may end with a command.
struct LeaseArguments: ParsableArguments {
  @Flag(name: .customLong("while"), help: "Only while a command runs, which follows `--`; ends as it ends.")
  var isLease = false

  @Argument(parsing: .postTerminator, help: "The command of --while and its arguments.")
  var command: [String] = []

  func validate() throws {
    if isLease == command.isEmpty {
      throw ValidationError(
        isLease
          ? "cannot hold a lease without a command; write it behind `--`, as in `--while -- firefox`"
          : "cannot run a command without --while; write `--while -- \(commandLine(command))`")
    }
  }

  /// Sends the signal, for as long as the command runs if there is one.
  func send(_ signal: Wire.LifecycleSignal, _ arguments: SignalArguments) throws {
    if isLease {
      try Lease(app: arguments.app, signal: signal).hold(whileRunning: command, over: arguments.connection)
    } else {
      try arguments.send(signal)
    }
  }
}

struct LaunchedCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "launched", abstract: "Tell that an app has a process now; it is in the background.")

  @OptionGroup var arguments: SignalArguments
  @OptionGroup var lease: LeaseArguments

  func run() throws { try lease.send(.launched, arguments) }
}

struct ForegroundCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "foreground", abstract: "Tell that the user looks at an app.")

  @OptionGroup var arguments: SignalArguments
  @OptionGroup var lease: LeaseArguments

  func run() throws { try lease.send(.foreground, arguments) }
}

struct BackgroundCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "background", abstract: "Tell that the user no longer looks at an app.")

  @OptionGroup var arguments: SignalArguments

  func run() throws { try arguments.send(.background) }
}

struct TerminatedCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "terminated", abstract: "Tell that the user has ended an app: pushes wait for `launched`.")

  @OptionGroup var arguments: SignalArguments

  func run() throws { try arguments.send(.terminated) }
}

struct LoginCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "login", abstract: "Let an app be refreshed (again).")

  @OptionGroup var arguments: SignalArguments

  func run() throws { try arguments.send(.login) }
}

struct LogoutCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "logout", abstract: "Stop refreshing an app until `login`.")

  @OptionGroup var arguments: SignalArguments

  func run() throws { try arguments.send(.logout) }
}
