import struct Simulator.Chance

/// The part of an app's file that a reload leaves as it is: the commands beside its refreshes.
struct SimulatedExtras {
  /// The commands that are told how refreshes went, by their keys.
  let commands: Set<String>
  let hasPing: Bool
  /// After how many failures in a row `on_failure` runs.
  let failuresBeforeNotice: Int32
  /// Whether a command is asked before a refresh starts.
  let asks: Bool
  /// The watched folder; nil for none.
  let folder: String?

  init(_ fate: inout Chance) {
    let keys = ["on_failure", "on_new_data", "on_success"]
    var commands: Set<String> = []
    for key in keys where fate.happens(50) { commands.insert(key) }
    self.commands = commands
    hasPing = fate.happens(50)
    failuresBeforeNotice = fate.pick([1, 2, 3])
    asks = fate.happens(35)
    folder = fate.happens(40) ? "/srv/notes/\(fate.number(below: 1_000_000))" : nil
  }

  /// The lines of the file; the last argument of each command is its key.
  var lines: [String] {
    var lines = commands.sorted().map { "\($0) = [\"true\", \"\($0)\"]" }
    lines.append("failures_before_notice = \(failuresBeforeNotice)")
    if hasPing { lines.append("ping = \"https://ping.example/secret\"") }
    if asks { lines.append("when = [\"true\", \"when\"]") }
    if let folder { lines.append("watch = [\"\(folder)\"]") }
    return lines
  }
}
