import ArgumentParser
import RefreshAPI

struct ResumeTransferCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "resume-transfer", abstract: "Let transfers go on that were paused, or that wait for another try.")

  @Argument(help: "The numbers of the transfers.", completion: .transfers)
  var ids: [Int64]

  @OptionGroup var connection: ConnectionOptions

  func run() throws {
    let reply = try Daemon(connection).call(TransfersInterface.Resume.self, .init(ids: ids))
    try connection.show(reply) { _ in [sentence(ids, "in the queue again")] }
  }
}
