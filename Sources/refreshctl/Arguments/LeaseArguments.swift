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

  /// Sends the signal: for as long as the command runs, if there is a command.
  func send(_ signal: Wire.LifecycleSignal, _ arguments: AppArguments) throws {
    if isLease {
      try Lease(app: arguments.app, signal: signal).hold(whileRunning: command, over: arguments.connection)
    } else {
      try arguments.connection.send(signal, to: arguments.app)
    }
  }
}
