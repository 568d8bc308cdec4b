import ArgumentParser
import RefreshAPI

/// The arguments of a signal that can last as long as a command.
struct LeaseArguments: ParsableArguments {
  private static let name = "while"

  @OptionGroup var arguments: AppsArguments

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

  /// Sends the signal; with `--while`, for as long as the command runs.
  func send(_ signal: Wire.LifecycleSignal) throws {
    guard let command else { return try arguments.send(signal) }
    let connection = arguments.connection
    let ids = arguments.apps.count > 1 ? try connection.ids(of: arguments.apps) : arguments.apps
    try AppLease.hold(ids, signal, whileRunning: command, over: connection)
  }
}
