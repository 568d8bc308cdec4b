import ArgumentParser
import RefreshAPI

struct ResumeTransferCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "resume-transfer", abstract: "Queue transfers again that are paused, or that wait for a retry.")

  @OptionGroup var arguments: TransfersArguments

  func run() throws {
    let ids = arguments.ids
    try arguments.connection.ask(TransfersInterface.Resume.self, .init(ids: ids)) { _, _ in
      [sentence(ids, "in the queue again")]
    }
  }
}
