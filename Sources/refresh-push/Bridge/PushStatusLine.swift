/// The line about the bridge in `systemctl status` (sd_notify(3), `STATUS=`).
enum PushStatusLine {
  /// The sentences that apply; problems contain no secrets.
  static func text(
    connected: Int, of count: Int, mayConnect: Bool, daemonProblem: String?, problems: [String],
    refusedConfiguration: [String] = []
  ) -> String {
    var sentences = [count == 0 ? "No source is configured." : "Connected to \(connected) of \(count) sources."]
    if let first = refusedConfiguration.first {
      sentences.append("The new push.toml is not in force, the old one is: \(first)")
    }
    if let daemonProblem { sentences.append("Messages wait: \(daemonProblem).") }
    if count > 0, !mayConnect {
      sentences.append("The network may not be used.")
    } else if let first = problems.first {
      sentences.append("\(first)\(problems.count > 1 ? " (and \(problems.count - 1) more)" : "").")
    }
    return sentences.joined(separator: " ")
  }
}
