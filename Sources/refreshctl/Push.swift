import ArgumentParser
@preconcurrency import Glibc
import RefreshAPI

struct PushCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "push", abstract: "Push a payload to an app, which wakes it.",
    discussion: """
      The payload is a JSON object such as '{"aps":{"content-available":1},"content-id":42}'. The app's tasks read it \
      on standard input, and its content-id in $REFRESH_CONTENT_ID. Without content-available nobody is woken: what is \
      attached to the app is told. Pushes may wake an app as often as its push_per_hour and push_burst say, 3 an hour \
      and 5 in a row by default; what comes sooner waits, and makes room for a newer one with the same content-id.

      Ends with 0 once the push is stored, whether it wakes the app now or later.
      """)

  @Argument(help: "The id of the app.", completion: .apps)
  var app: String

  @Argument(
    help: ArgumentHelp("The payload; - reads it from standard input, where others do not see it.", valueName: "json"))
  var payload: String

  @Option(help: "What it asks of the machine; normal if nothing is said.")
  var urgency: Spelled<Wire.Urgency>?

  @Option(
    help: ArgumentHelp("The id of the message: what came under it before is not taken again.", valueName: "id"))
  var id: String?

  @OptionGroup var connection: ConnectionOptions

  func run() throws {
    let payload = try payload == "-" ? readPayload() : payload
    let daemon = try Daemon(connection)
    let reply = try daemon.call(
      AppInterface.Push.self, .init(app: app, payload: payload, urgency: urgency?.word, id: id))
    // The daemon has taken it, so it can be read.
    let contentID = (try? PushPayload(payload))?.contentID
    let sent = SentPush(app: app, contentID: contentID, reply: reply)
    try connection.show(reply) { $0.wrapped($0.sentence(sent, explanation(by: daemon))) }
  }

  /// What the app is about now; nil if the daemon does not say, which is no reason to call the push a failure.
  private func explanation(by daemon: Daemon) -> Wire.Explanation? {
    do throws(Failure) {
      return try daemon.call(ManagerInterface.Why.self, .init(app: app)).why
    } catch {
      return nil
    }
  }
}

/// Reads all of standard input: one payload, with a line end behind it or without.
private func readPayload() throws(Failure) -> String {
  // What is larger than a payload may be is the daemon's to refuse; this keeps an endless input out of the memory.
  let most = 16 * PushPayload.mostBytes
  var bytes: [UInt8] = []
  var chunk = [UInt8](repeating: 0, count: 4096)
  while bytes.count <= most {
    let count = read(STDIN_FILENO, &chunk, chunk.count)
    if count < 0 {
      if errno == EINTR { continue }
      throw unreadable("\(String(cString: strerror(errno)))")
    }
    if count == 0 { break }
    bytes += chunk.prefix(count)
  }
  guard bytes.count <= most else {
    throw unreadable("it goes on beyond \(most) bytes; a payload has at most \(PushPayload.mostBytes)")
  }
  guard let text = String(validating: bytes, as: UTF8.self) else { throw unreadable("it is not UTF-8") }
  let payload = String(text.reversed().drop { $0.isNewline }.reversed())
  guard !payload.isEmpty else { throw unreadable("it is empty; write one JSON object") }
  return payload
}

private func unreadable(_ problem: String) -> Failure {
  Failure(status: .badData, text: "cannot read a payload from standard input: \(problem)")
}
