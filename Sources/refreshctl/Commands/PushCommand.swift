import ArgumentParser
@preconcurrency import Glibc
import RefreshAPI

struct PushCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "push", abstract: "Push a payload to an app, and wake it.",
    discussion: """
      The payload is a JSON object such as '{"aps":{"content-available":1},"content-id":42}'. The app's tasks read it \
      from standard input, and its content-id from $REFRESH_CONTENT_ID. Without content-available the push starts no \
      task; only attached processes receive it. The app's push_per_hour and push_burst limit how often pushes wake it, \
      by default 3 an hour and 5 in a row. A push above the limit waits; a newer push with the same content-id \
      replaces it.

      Exits with 0 once the push is stored, whether it wakes the app now or later.
      """)

  @Argument(help: "The id of the app, or a part of it.", completion: .apps)
  var app: String

  @Argument(
    help: ArgumentHelp(
      "The payload; - reads it from standard input, which other users do not see.", valueName: "json"))
  var payload: String

  @Option(help: "The power and network that the push may use; normal if absent.")
  var urgency: EnumArgument<Wire.Urgency>?

  @Option(
    help: ArgumentHelp("The id of the message; a second push with this id is ignored.", valueName: "id"))
  var id: String?

  @OptionGroup var connection: ConnectionOptions

  func validate() throws {
    if id == "" {
      throw ValidationError("cannot use an empty id for a message; give --id a text, or leave it out")
    }
  }

  func run() throws {
    let payload = try payload == "-" ? readPayload() : payload
    let daemon = try DaemonClient(connection)
    let (app, reply) = try connection.naming(app) { app throws(Failure) in
      let parameters = AppInterface.Push.Parameters(app: app, payload: payload, urgency: urgency?.value, id: id)
      return (app, try daemon.call(AppInterface.Push.self, parameters))
    }
    // The daemon has accepted the payload. If it is newer and accepts more, the sentence just has no content id.
    let contentID = (try? PushPayload(payload))?.contentID
    let sent = SentPush(app: app, contentID: contentID, reply: reply)
    try connection.show(reply) { $0.wrapped($0.sentence(sent, explanation(of: app, by: daemon))) }
  }

  /// Asks for the state of the app after the push; a failure gives nil, because the push itself has succeeded.
  private func explanation(of app: String, by daemon: DaemonClient) -> Wire.Explanation? {
    do throws(Failure) {
      return try daemon.call(ManagerInterface.Why.self, .init(app: app)).why
    } catch {
      return nil
    }
  }
}

/// Reads all of standard input as one payload, without the line ends after it.
func readPayload() throws(Failure) -> String {
  // The daemon refuses a payload that is too long. This larger limit only bounds the memory for an endless input.
  let most = 16 * PushPayload.mostBytes
  var bytes: [UInt8] = []
  var chunk = [UInt8](repeating: 0, count: 4096)
  while bytes.count <= most {
    let count = read(STDIN_FILENO, &chunk, chunk.count)
    if count < 0 {
      if errno == EINTR { continue }
      throw unreadable(errorText(errno))
    }
    if count == 0 { break }
    bytes += chunk.prefix(count)
  }
  guard bytes.count <= most else {
    throw unreadable("it is longer than \(most) bytes; send at most \(PushPayload.mostBytes)")
  }
  guard let text = String(validating: bytes, as: UTF8.self) else { throw unreadable("it is not UTF-8") }
  let payload = String(text.reversed().drop { $0.isNewline }.reversed())
  guard !payload.isEmpty else { throw unreadable("it is empty; write one JSON object") }
  return payload
}

private func unreadable(_ problem: String) -> Failure {
  Failure(status: .badData, text: "cannot read a payload from standard input: \(problem)")
}
