import ArgumentParser
import RefreshAPI

/// The arguments of a signal that can last as long as a command runs.
struct LeaseArguments: ParsableArguments {
  @Flag(
    name: .customLong("while"),
    help: "Hold the signal for as long as a command runs. Write the command after `--`; its exit code is passed on.")
  var isLease = false

  @Argument(parsing: .postTerminator, help: "The command of --while and its arguments.")
  var command: [String] = []

  func validate() throws {
    if isLease == command.isEmpty {
      throw ValidationError(
        isLease
          ? "cannot hold a lease without a command; write it after `--`, as in `--while -- firefox`"
          : "cannot run a command without --while; write `--while -- \(commandLine(command))`")
    }
  }

  /// Checks that a lease is on one app.
  func check(_ arguments: AppsArguments) throws {
    if isLease, arguments.apps.count > 1 {
      throw ValidationError("cannot hold several apps with one command; name one app with --while")
    }
  }

  /// Sends the signal: for as long as the command runs, if there is a command.
  func send(_ signal: Wire.LifecycleSignal, _ arguments: AppsArguments) throws {
    if isLease, let app = arguments.apps.first {
      try Lease(app: app, signal: signal).hold(whileRunning: command, over: arguments.connection)
    } else {
      try arguments.send(signal)
    }
  }
}
