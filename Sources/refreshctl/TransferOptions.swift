import ArgumentParser
import RefreshAPI
import RefreshConfig

/// What a download and an upload have in common.
struct TransferOptions: ParsableArguments {
  @Option(help: "The session that it belongs to: the app is woken when the last transfer of it has ended.")
  var session: String?

  @Option(help: ArgumentHelp("What it is, for people and for the app.", valueName: "text"))
  var description: String?

  @Option(help: "What it asks of the network; unmetered if nothing is said.")
  var network: Spelled<Wire.NetworkConstraint>?

  @Option(parsing: .unconditional, help: "Which go first, -100 to 100: those with the higher one.")
  var priority: Int64?

  @Option(
    help: ArgumentHelp("At most so much a second, such as 1MB.", valueName: "amount"), transform: readByteSize)
  var maxRate: Int64?

  @Option(
    help: ArgumentHelp("More headers, `Name: value` each line, in a file of mode 0600.", valueName: "path"),
    completion: .file())
  var headersFile: String?

  @Option(
    help: ArgumentHelp("`user:password`, in a file of mode 0600.", valueName: "path"), completion: .file())
  var credentialFile: String?

  @Flag(help: "Take user and password from the owner's .netrc.")
  var netrc = false

  @Option(help: ArgumentHelp("What the desktop is told when the session has ended.", valueName: "text"))
  var notify: String?

  @Flag(help: "Wait for its end: 0 if it is done, 1 if not. To stop waiting does not stop the transfer.")
  var wait = false

  /// The request that these options make of a URL and a file.
  func request(_ url: String, _ path: String, _ only: OneWay) throws(Failure) -> Wire.Request {
    let headersFile = try headersFile.map { (file) throws(Failure) in try WholePath.existing(file) }
    let credentialFile = try credentialFile.map { (file) throws(Failure) in try WholePath.existing(file) }
    return Wire.Request(
      url: url, path: path, direction: only.direction, session: session, description: description,
      sha256: only.sha256, length: only.length, network: network?.word, priority: priority, maxRate: maxRate,
      method: only.method, tus: only.tus, headersFile: headersFile, credentialFile: credentialFile,
      netrc: netrc ? true : nil, notify: notify)
  }

  /// Puts the request into the queue and tells its number, or waits for its end.
  func enqueue(_ request: Wire.Request, of app: String, _ connection: ConnectionOptions) throws {
    let daemon = try Daemon(connection)
    let reply = try daemon.call(TransfersInterface.Enqueue.self, .init(app: app, transfers: [request]))
    if wait {
      try TransferWait(app: app, ids: reply.ids, connection: connection).run()
    } else {
      try connection.show(reply) { _ in
        reply.ids.map { "Transfer \($0) is in the queue; `refreshctl transfers --watch` shows how it goes." }
      }
    }
  }
}

/// What only a download or only an upload says of itself.
struct OneWay {
  let direction: Wire.Direction
  var sha256: String?
  var length: Int64?
  var method: String?
  var tus: Bool?
}

/// Reads an amount of data, for an option of the command line.
@Sendable func readByteSize(_ text: String) throws -> Int64 {
  do throws(Unreadable) {
    return try ByteSizes.bytes(text)
  } catch {
    throw ValidationError("\(error)")
  }
}

/// The URL of an argument; of the first line of standard input for `-`, where other users do not see it.
func readURL(_ argument: String) throws(Failure) -> String {
  guard argument == "-" else { return argument }
  guard let line = readLine(), !line.isEmpty else {
    throw Failure(
      status: .usage, text: "cannot read a URL from standard input: it is empty; write the URL as its first line")
  }
  return line
}
