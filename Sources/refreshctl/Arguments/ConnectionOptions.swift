import ArgumentParser
@preconcurrency import Glibc
import JSON
import Varlink

/// Options that name the daemon.
protocol DaemonOptions {
  /// The path of the daemon's socket; nil for the default daemon.
  var socket: String? { get }
}

/// The option that names the daemon.
struct SocketOptions: ParsableArguments, DaemonOptions {
  @Option(help: helpOfSocket, completion: .file())
  var socket: String?

  // ``RemoteHost`` removes it from the command line before this is parsed.
  @Option(name: nameOfHost, help: helpOfHost)
  var host: String?

  fileprivate static var helpOfSocket: ArgumentHelp { ArgumentHelp("The daemon's socket.", valueName: "path") }
  fileprivate static var nameOfHost: NameSpecification { [.customShort("H"), .long] }
  fileprivate static var helpOfHost: ArgumentHelp {
    ArgumentHelp("Run on another machine, by ssh.", valueName: "[user@]host")
  }
}

/// The options of every command that prints an answer of the daemon.
struct ConnectionOptions: ParsableArguments, DaemonOptions {
  // Those of `SocketOptions`, and not as a group: in a debug build ArgumentParser checks a group some four times for each
  // group around it, which takes most of the time of a command.
  @Option(help: SocketOptions.helpOfSocket, completion: .file())
  var socket: String?

  @Option(name: SocketOptions.nameOfHost, help: SocketOptions.helpOfHost)
  var host: String?

  @Flag(help: "Print the answer as JSON.")
  var json = false

  /// Calls a method that replies once, and prints the reply.
  func ask<Method: InterfaceMethod>(
    _ method: Method.Type, _ parameters: Method.Parameters, lines: (Screen, Method.Reply) -> [String]
  ) throws(Failure) {
    let reply = try DaemonClient(self).call(method, parameters)
    try show(reply) { screen in lines(screen, reply) }
  }

  /// Prints an answer: as one JSON document, or as lines for a person.
  func show(_ answer: some JSONWritable, lines: (Screen) -> [String]) throws(Failure) {
    if json {
      print(try Self.json(answer, .document))
    } else {
      let screen = Screen(of: STDOUT_FILENO)
      for line in lines(screen) { print(screen.encoded(line)) }
    }
  }

  /// Prints one of several answers as a line of JSON, and flushes it, so that a reader sees it at once.
  func showStep(_ answer: some JSONWritable) throws(Failure) {
    print(try Self.json(answer, .line))
    StandardOutput.flush()
  }

  private static func json(_ answer: some JSONWritable, _ layout: JSONLayout) throws(Failure) -> String {
    do {
      return try answer.jsonText(layout)
    } catch {
      throw Failure(status: .protocolError, text: "cannot write the answer as JSON: \(error)")
    }
  }
}

/// Accepts the options of every command before the subcommand.
///
/// People who know systemctl write them on either side. If they were options of the root command, ArgumentParser
/// would also remove them from the command after `--while`.
enum LeadingOptions {
  /// Moves `--socket PATH` and `--json` behind the subcommand, if no other word precedes it.
  static func move(in arguments: inout [String], behind subcommands: [String]) {
    var end = arguments.startIndex
    while end < arguments.endIndex, let length = length(of: arguments[end]) { end += length }
    guard end < arguments.endIndex, subcommands.contains(arguments[end]) else { return }
    arguments = [arguments[end]] + arguments[..<end] + arguments[(end + 1)...]
  }

  /// The path of `--socket PATH`, if the command line has nothing else.
  static func socketAlone(in arguments: [String]) -> String? {
    if arguments.count == 2, arguments[0] == "--socket" { return arguments[1] }
    return arguments.count == 1 ? arguments[0].value(after: "--socket=") : nil
  }

  /// The number of words of such an option; nil for any other word.
  private static func length(of option: String) -> Int? {
    switch option {
    case "--socket": 2
    case "--json": 1
    case _ where option.hasPrefix("--socket="): 1
    default: nil
    }
  }
}
