import ArgumentParser
@preconcurrency import Glibc
import RefreshAPI

/// Waits for the end of transfers, and shows their progress.
struct TransferWait {
  let app: String
  let ids: [Int64]
  let connection: ConnectionOptions

  /// Ends the command with status 0 if all transfers succeeded, with 1 if one did not.
  func run() throws {
    var left = Set(ids)
    var isDone = true
    var board = TransferBoard(descriptor: STDERR_FILENO)
    let changes = TransfersInterface.Watch.self
    // A transfer survives its daemon, so the next daemon reports its end.
    let lost = { board.begin() }
    try connection.daemon.follow(
      changes, .init(app: app), lost: lost,
      untilFalse: { reply throws(Failure) in
        // The daemon no longer knows the end of a forgotten transfer.
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
      })
    guard left.isEmpty else {
      throw Failure(
        status: .protocolError,
        text: "cannot tell how the transfer ended: the daemon did not report it; look for its file")
    }
    throw ExitCode((isDone ? ExitStatus.done : .failed).rawValue)
  }
}
