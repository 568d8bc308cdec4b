import ArgumentParser
import RefreshAPI

struct PauseTransferCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pause-transfer", abstract: "Pause transfers until `resume-transfer`.",
    discussion: "The partial files stay, also across a reboot.")

  @OptionGroup var arguments: TransfersArguments

  func run() throws {
    let ids = arguments.ids
    try arguments.connection.ask(TransfersInterface.Pause.self, .init(ids: ids)) { _, _ in [sentence(ids, "paused")] }
  }
}
