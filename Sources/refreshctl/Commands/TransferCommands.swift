import ArgumentParser
@preconcurrency import Glibc
import RefreshAPI
import Varlink

struct DownloadCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "download", abstract: "Download a file for an app in the background.",
    discussion: """
      The download goes on when this command, the app or the daemon ends, and continues after a reboot. The partial \
      file is PATH.part; PATH appears when the download is complete. The download waits for an unmetered network, \
      unless --network says otherwise.
      """)

  @Argument(help: "The id of the app, or a part of it.", completion: .apps)
  var app: String

  @Argument(help: "The http or https URL of the file; - reads it from standard input, which other users do not see.")
  var url: String

  @Option(
    help: ArgumentHelp("The file to write, or a folder; the name then comes from the URL.", valueName: "path"),
    completion: .file())
  var to: String

  @Option(help: ArgumentHelp("The expected SHA-256 of the file.", valueName: "digits"))
  var sha256: String?

  @Option(help: ArgumentHelp("The expected length of the file.", valueName: "bytes"))
  var length: Int64?

  @OptionGroup var options: TransferOptions
  @OptionGroup var connection: ConnectionOptions

  func run() throws {
    let url = try readURL(url)
    let path = try WholePath.target(to, of: url)
    let only = OneWayOptions(direction: .download, sha256: sha256, length: length)
    try options.enqueue(options.request(url, path, only), of: app, connection)
  }
}

struct UploadCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "upload", abstract: "Upload a file for an app in the background.",
    discussion: """
      The upload goes on when this command, the app or the daemon ends, and continues after a reboot. After an \
      interruption it starts again from the first byte; with --tus, and a server that supports it, it resumes. Do not \
      change the file before the upload has ended.
      """)

  @Argument(help: "The id of the app, or a part of it.", completion: .apps)
  var app: String

  @Argument(help: "The file.", completion: .file())
  var path: String

  @Argument(help: "The http or https URL to send to; - reads it from standard input, which other users do not see.")
  var url: String

  @Flag(help: "Use the protocol tus 1.0.0. The URL is then the address that creates uploads.")
  var tus = false

  @Flag(help: "Use POST instead of PUT. A POST is not retried when the reply is lost.")
  var post = false

  @OptionGroup var options: TransferOptions
  @OptionGroup var connection: ConnectionOptions

  func validate() throws {
    if tus && post {
      throw ValidationError("cannot upload with both tus and POST; give --tus or --post")
    }
  }

  func run() throws {
    let url = try readURL(url)
    let only = OneWayOptions(direction: .upload, method: post ? "POST" : nil, tus: tus ? true : nil)
    try options.enqueue(options.request(url, WholePath.plainFile(path), only), of: app, connection)
  }
}

/// The options that a download and an upload share.
struct TransferOptions: ParsableArguments {
  @Option(
    help: "The session of the transfer. The app is woken when the last transfer of a session has ended.",
    completion: .sessions)
  var session: String?

  @Option(help: ArgumentHelp("A description, for people and for the app.", valueName: "text"))
  var description: String?

  @Option(help: "The network that the transfer may use; unmetered if absent.")
  var network: EnumArgument<Wire.NetworkConstraint>?

  @Option(parsing: .unconditional, help: "From -100 to 100; the highest goes first.")
  var priority: Int64?

  @Option(
    help: ArgumentHelp("The limit in bytes per second, such as 1MB.", valueName: "amount"), transform: readByteSize)
  var maxRate: Int64?

  @Option(
    help: ArgumentHelp("A file with mode 0600 and more headers, one `Name: value` per line.", valueName: "path"),
    completion: .file())
  var headersFile: String?

  @Option(
    help: ArgumentHelp("A file with mode 0600 and the line `user:password`.", valueName: "path"), completion: .file())
  var credentialFile: String?

  @Flag(help: "Read user and password from the .netrc of the app's owner.")
  var netrc = false

  @Option(help: ArgumentHelp("The text of a desktop notification when the session has ended.", valueName: "text"))
  var notify: String?

  @Flag(help: "Wait for the end; exit with 0 for success, 1 for a failure. Ctrl-C does not stop the transfer.")
  var wait = false

  /// Combines these options, a URL and a path into a request.
  func request(_ url: String, _ path: String, _ only: OneWayOptions) throws(Failure) -> Wire.Request {
    let headersFile = try headersFile.map { (file) throws(Failure) in try WholePath.existing(file) }
    let credentialFile = try credentialFile.map { (file) throws(Failure) in try WholePath.existing(file) }
    return Wire.Request(
      url: url, path: path, direction: only.direction, session: session, description: description,
      sha256: only.sha256, length: only.length, network: network?.value, priority: priority, maxRate: maxRate,
      method: only.method, tus: only.tus, headersFile: headersFile, credentialFile: credentialFile,
      netrc: netrc ? true : nil, notify: notify)
  }

  /// Queues the request, then prints its number or, with `--wait`, waits for its end.
  func enqueue(_ request: Wire.Request, of text: String, _ connection: ConnectionOptions) throws {
    let (app, reply) = try connection.naming(text) { id throws(Failure) in
      (id, try DaemonClient(connection).call(TransfersInterface.Enqueue.self, .init(app: id, transfers: [request])))
    }
    if wait {
      try TransferWait(app: app, ids: reply.ids, connection: connection).run()
    } else {
      try connection.show(reply) { _ in
        reply.ids.map { "Transfer \($0) is in the queue; `refreshctl transfers --watch` shows its progress." }
      }
    }
  }
}

/// The options that only a download or only an upload has.
struct OneWayOptions {
  let direction: Wire.Direction
  var sha256: String?
  var length: Int64?
  var method: String?
  var tus: Bool?
}

/// Waits for the end of transfers, and shows their progress.
private struct TransferWait {
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
    try connection.follow(
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
        text: "cannot find out how the transfer ended: the daemon did not report it; look for its file")
    }
    throw ExitCode((isDone ? ExitStatus.done : .failed).rawValue)
  }
}

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
    try connection.follow(changes, .init(app: app), lost: { board.begin() }) { reply throws(Failure) in
      let transfers = reply.transfers.filter { session == nil || $0.session == session }
      if connection.json {
        return try connection.showStep(
          TransfersInterface.Watch.Reply(transfers: transfers, forgotten: reply.forgotten))
      }
      board.show(transfers, without: reply.forgotten ?? [])
    }
  }
}

struct PauseTransferCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pause-transfer", abstract: "Pause transfers until `resume-transfer`.",
    discussion: "The partial files stay, also across a reboot.")

  @OptionGroup var arguments: TransfersArguments

  func run() throws {
    try arguments.change(TransfersInterface.Pause.self, .init(ids: arguments.ids), to: "paused")
  }
}

struct ResumeTransferCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "resume-transfer", abstract: "Resume transfers that are paused, or that wait for a retry.")

  @OptionGroup var arguments: TransfersArguments

  func run() throws {
    try arguments.change(TransfersInterface.Resume.self, .init(ids: arguments.ids), to: "in the queue again")
  }
}

struct CancelTransferCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cancel-transfer", abstract: "Cancel transfers, and delete their partial files.")

  @OptionGroup var arguments: TransfersArguments

  func run() throws {
    try arguments.change(TransfersInterface.Cancel.self, .init(ids: arguments.ids), to: "cancelled")
  }
}

struct PrioritizeTransferCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "prioritize-transfer", abstract: "Set the priority of transfers.")

  @Option(
    name: .customLong("to"), parsing: .unconditional,
    help: ArgumentHelp("From -100 to 100; the highest goes first.", valueName: "priority"))
  var priority: Int64

  @OptionGroup var arguments: TransfersArguments

  func run() throws {
    try arguments.change(
      TransfersInterface.SetPriority.self, .init(ids: arguments.ids, priority: priority), to: "of priority \(priority)")
  }
}

/// The arguments of a command that changes several transfers.
struct TransfersArguments: ParsableArguments {
  @Argument(help: "The numbers of the transfers.", completion: .transfers)
  var ids: [Int64]

  @OptionGroup var connection: ConnectionOptions

  /// Calls a method about the transfers, and prints their new state.
  func change<Method: InterfaceMethod>(
    _ method: Method.Type, _ parameters: Method.Parameters, to state: String
  ) throws {
    try connection.ask(method, parameters) { _, _ in [sentence(ids, state)] }
  }
}
