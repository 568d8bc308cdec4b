import ArgumentParser
import RefreshAPI

struct PauseTransferCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pause-transfer", abstract: "Pause transfers until `resume-transfer`.",
    discussion: "The partial files stay, also across a reboot.")

  @OptionGroup var arguments: TransfersArguments

  func run() throws {
    try arguments.change(TransfersInterface.Pause.self, .init(ids: arguments.ids), to: "paused")
  }
}
