import ArgumentParser
import RefreshAPI

struct CancelTransferCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cancel-transfer", abstract: "End transfers for good, and remove what is there of their files.")

  @Argument(help: "The numbers of the transfers.", completion: .transfers)
  var ids: [Int64]

  @OptionGroup var connection: ConnectionOptions

  func run() throws {
    let reply = try Daemon(connection).call(TransfersInterface.Cancel.self, .init(ids: ids))
    try connection.show(reply) { _ in [sentence(ids, "cancelled")] }
  }
}
