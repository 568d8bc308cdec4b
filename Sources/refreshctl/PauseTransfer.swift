import ArgumentParser
import RefreshAPI

struct PauseTransferCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pause-transfer", abstract: "Keep transfers from going on until `resume-transfer`.",
    discussion: "What is there of their files stays, also when the machine is started anew.")

  @Argument(help: "The numbers of the transfers.", completion: .transfers)
  var ids: [Int64]

  @OptionGroup var connection: ConnectionOptions

  func run() throws {
    let reply = try Daemon(connection).call(TransfersInterface.Pause.self, .init(ids: ids))
    try connection.show(reply) { _ in [sentence(ids, "paused")] }
  }
}

/// What has become of transfers, as in `Transfer 12 is paused.`.
func sentence(_ ids: [Int64], _ became: String) -> String {
  let numbers = ids.map(String.init)
  guard let last = numbers.last, numbers.count > 1 else { return "Transfer \(numbers.joined()) is \(became)." }
  return "Transfers \(numbers.dropLast().joined(separator: ", ")) and \(last) are \(became)."
}

extension CompletionKind {
  /// Completes the numbers of transfers that have not ended.
  static var transfers: CompletionKind {
    .custom { _, _, prefix in
      do throws(Failure) {
        let reply = try Daemon(ConnectionOptions()).call(TransfersInterface.List.self, .init())
        return reply.transfers.filter { $0.state != .ended }.map { "\($0.id)" }.filter { $0.hasPrefix(prefix) }
      } catch {
        // In the middle of a command line there is nobody to tell that no daemon answers.
        return []
      }
    }
  }
}
