import ArgumentParser
import RefreshAPI

struct CancelTransferCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cancel-transfer", abstract: "Cancel transfers, and delete their partial files.")

  @OptionGroup var arguments: TransfersArguments

  func run() throws {
    try arguments.change(TransfersInterface.Cancel.self, .init(ids: arguments.ids), to: "cancelled")
  }
}
