import ArgumentParser
import RefreshAPI

struct PrioritizeTransferCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "prioritize-transfer", abstract: "Set the priority of transfers.")

  @Option(
    name: .customLong("to"), parsing: .unconditional,
    help: ArgumentHelp("From -100 to 100; a higher priority goes first.", valueName: "priority"))
  var priority: Int64

  @OptionGroup var arguments: TransfersArguments

  func run() throws {
    try arguments.change(
      TransfersInterface.SetPriority.self, .init(ids: arguments.ids, priority: priority), to: "of priority \(priority)")
  }
}
