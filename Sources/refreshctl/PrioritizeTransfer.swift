import ArgumentParser
import RefreshAPI

struct PrioritizeTransferCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "prioritize-transfer", abstract: "Set which transfers go first.")

  @Argument(help: "The numbers of the transfers.", completion: .transfers)
  var ids: [Int64]

  @Option(
    name: .customLong("to"), parsing: .unconditional,
    help: ArgumentHelp("From -100 to 100: those with the higher one go first.", valueName: "priority"))
  var priority: Int64

  @OptionGroup var connection: ConnectionOptions

  func run() throws {
    let reply = try Daemon(connection).call(TransfersInterface.SetPriority.self, .init(ids: ids, priority: priority))
    try connection.show(reply) { _ in [sentence(ids, "of priority \(priority)")] }
  }
}
