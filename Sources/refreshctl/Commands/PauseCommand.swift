import ArgumentParser
@preconcurrency import Glibc
import RefreshAPI

struct PauseCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pause", abstract: "Pause all apps until `resume`, or for a time.",
    discussion: "Meanwhile only `run` starts refreshes. Refreshes that are running go on.")

  @Option(
    name: .customLong("for"), help: ArgumentHelp("How long to pause, such as 2h.", valueName: "duration"),
    transform: readDuration)
  var duration: Duration?

  @Flag(help: "Pause until the machine is on mains power.")
  var untilAC = false

  @OptionGroup var connection: ConnectionOptions

  func validate() throws {
    if let duration, duration < .seconds(1) {
      throw ValidationError("cannot pause for less than a second; give --for a longer time, or run `resume`")
    }
    if duration != nil && untilAC {
      throw ValidationError("cannot pause both for a time and until mains power; give --for or --until-ac")
    }
  }

  func run() throws {
    let until = duration.map { Screen(of: STDOUT_FILENO).now + $0.inMicroseconds }
    try connection.ask(
      ManagerInterface.Pause.self, .init(untilMicroseconds: until, untilAC: untilAC ? true : nil)
    ) { screen, reply in
      [untilAC ? screen.sentence(reply.pause) : screen.sentence(ofTimed: reply.pause)]
    }
  }
}
