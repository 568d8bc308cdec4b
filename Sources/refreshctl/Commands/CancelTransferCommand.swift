import ArgumentParser
import RefreshAPI

struct CancelTransferCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cancel-transfer", abstract: "Cancel transfers, and delete their partial files.")

  @OptionGroup var arguments: TransfersArguments

  func run() throws {
    let ids = arguments.ids
    try arguments.connection.ask(TransfersInterface.Cancel.self, .init(ids: ids)) { _, _ in
      [sentence(ids, "cancelled")]
    }
  }
}
