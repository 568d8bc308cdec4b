import ArgumentParser
@preconcurrency import Glibc
import RefreshAPI

/// Waits for the end of transfers, and shows how they go.
struct TransferWait {
  let app: String
  let ids: [Int64]
  let connection: ConnectionOptions

  /// Ends the command with 0 if all are done, with 1 if not.
  func run() throws {
    var left = Set(ids)
    var isDone = true
    var board = TransferBoard(descriptor: STDERR_FILENO)
    try Daemon(connection).follow(TransfersInterface.Watch.self, .init(app: app)) { reply throws(Failure) in
      // How it ended is told to nobody any more.
      if let forgotten = reply.forgotten, !left.isDisjoint(with: forgotten) { return false }
      let own = reply.transfers.filter { left.contains($0.id) }
      guard !own.isEmpty else { return true }
      if connection.json {
        try connection.showStep(TransfersInterface.Watch.Reply(transfers: own))
      } else {
        board.show(own)
      }
      for transfer in own where transfer.state == .ended {
        left.remove(transfer.id)
        isDone = isDone && transfer.result == .done
      }
      return !left.isEmpty
    }
    guard left.isEmpty else {
      throw Failure(status: .protocolError, text: "cannot tell how the transfer ended: the daemon did not say")
    }
    throw ExitCode((isDone ? ExitStatus.done : .failed).rawValue)
  }
}
