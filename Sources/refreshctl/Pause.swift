import ArgumentParser
@preconcurrency import Glibc
import RefreshAPI

struct PauseCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pause", abstract: "Pause all apps until `resume`, or for a time.",
    discussion: "Only what a person asks for with `run` starts meanwhile; what is running goes on.")

  @Option(
    name: .customLong("for"), help: ArgumentHelp("For so long, such as 2h.", valueName: "duration"),
    transform: readDuration)
  var duration: Duration?

  @Flag(help: "Until the machine is on mains power.")
  var untilAC = false

  @OptionGroup var connection: ConnectionOptions

  func validate() throws {
    if duration != nil && untilAC {
      throw ValidationError("cannot pause both for a time and until mains power; give --for or --until-ac")
    }
  }

  func run() throws {
    let until = duration.map { Screen(of: STDOUT_FILENO).now + $0.inMicroseconds }
    let reply = try Daemon(connection).call(
      ManagerInterface.Pause.self, .init(untilMicroseconds: until, untilAC: untilAC ? true : nil))
    try connection.show(reply) { [$0.sentence(reply.pause)] }
  }
}

extension Screen {
  /// Whether all apps are paused, and until when.
  func sentence(_ pause: Wire.PauseState?) -> String {
    guard let pause else { return "Nothing is paused: the machine is on mains power." }
    return "All apps are paused \(end(pause))."
  }

  /// Until when a pause is.
  func end(_ pause: Wire.PauseState) -> String {
    if let until = pause.untilMicroseconds { return "until \(clock(until)), \(relative(until))" }
    return pause.untilAC ? "until the machine is on mains power" : "until `refreshctl resume`"
  }
}
