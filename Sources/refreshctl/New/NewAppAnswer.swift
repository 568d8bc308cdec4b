import JSON
import RefreshAPI

/// The result of `new`.
struct NewAppAnswer: JSONWritable {
  let app: String
  /// The path of the file.
  let file: String
  /// The text of the file.
  let text: String
  /// Whether a daemon has read the file.
  let isInForce: Bool

  func write(to json: inout JSONWriter) {
    json.beginObject()
    json.member("app", app)
    json.member("file", file)
    json.member("is_in_force", isInForce)
    json.member("text", text)
    json.endObject()
  }
}

extension Screen {
  /// The file that `new` has written, and the next steps.
  func text(_ answer: NewAppAnswer, _ socket: SocketPath) -> [String] {
    let file = printable(answer.file)
    guard answer.isInForce else {
      return ["\(file) is written."] + wrapped("No daemon reads it yet; \(socket.remedy).")
    }
    let app = printable(answer.app)
    return ["\(file) is written and in force."]
      + wrapped("`refreshctl why \(app)` says when it is refreshed; `refreshctl run \(app)` refreshes it now.")
  }
}
