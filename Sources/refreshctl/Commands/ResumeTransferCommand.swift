import ArgumentParser
import RefreshAPI

struct ResumeTransferCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "resume-transfer", abstract: "Queue transfers again that are paused, or that wait for a retry.")

  @OptionGroup var arguments: TransfersArguments

  func run() throws {
    try arguments.change(TransfersInterface.Resume.self, .init(ids: arguments.ids), to: "in the queue again")
  }
}
