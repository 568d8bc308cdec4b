/// Accepts the options of every command before the subcommand.
///
/// People who know systemctl write them on either side. As options of the root command, ArgumentParser would also remove
/// them from the command after `--while`.
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
