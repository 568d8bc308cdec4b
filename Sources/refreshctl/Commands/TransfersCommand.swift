import ArgumentParser
@preconcurrency import Glibc
import RefreshAPI

struct TransfersCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "transfers", abstract: "Show the background transfers: their progress, or what they wait for.",
    discussion: """
      Transfers that have ended are listed for a day. With --watch, a terminal shows the table and updates it in \
      place. A file or a pipe gets one line for each change, or with --json one JSON object.
      """)

  @Argument(help: "The id of the app, or a part of it; all apps if absent.", completion: .apps)
  var app: String?

  @Option(help: "Show only the transfers of this session.", completion: .sessions)
  var session: String?

  @Flag(help: "Show changes until Ctrl-C; connects again when the daemon ends.")
  var watch = false

  @OptionGroup var connection: ConnectionOptions

  func run() throws {
    try connection.naming(app.map { [$0] } ?? []) { ids throws(Failure) in
      if watch { return try follow(ids.first) }
      try connection.ask(TransfersInterface.List.self, .init(app: ids.first, session: session)) {
        $0.text($1.transfers)
      }
    }
  }

  private func follow(_ app: String?) throws(Failure) {
    var board = TransferBoard(descriptor: STDOUT_FILENO)
    let changes = TransfersInterface.Watch.self
    try connection.daemon.follow(changes, .init(app: app), lost: { board.begin() }) { reply throws(Failure) in
      let transfers = reply.transfers.filter { session == nil || $0.session == session }
      if connection.json {
        return try connection.showStep(
          TransfersInterface.Watch.Reply(transfers: transfers, forgotten: reply.forgotten))
      }
      board.show(transfers, without: reply.forgotten ?? [])
    }
  }
}
