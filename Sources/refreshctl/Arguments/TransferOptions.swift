import ArgumentParser
import RefreshAPI

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

  @Option(parsing: .unconditional, help: "From -100 to 100; a higher priority goes first.")
  var priority: Int64?

  @Option(
    help: ArgumentHelp("The most bytes a second, such as 1MB.", valueName: "amount"), transform: readByteSize)
  var maxRate: Int64?

  @Option(
    help: ArgumentHelp("A file of mode 0600 with more headers, one `Name: value` a line.", valueName: "path"),
    completion: .file())
  var headersFile: String?

  @Option(
    help: ArgumentHelp("A file of mode 0600 with `user:password`.", valueName: "path"), completion: .file())
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
