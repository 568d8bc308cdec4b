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
    let ids = arguments.ids
    try arguments.connection.ask(TransfersInterface.SetPriority.self, .init(ids: ids, priority: priority)) { _, _ in
      [sentence(ids, "of priority \(priority)")]
    }
  }
}
