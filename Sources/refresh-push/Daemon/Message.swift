import RefreshAPI

/// A message that a source has for an app.
struct Message: Hashable, Sendable {
  /// The id of the app in reverse-DNS form.
  var app: String
  /// The text of one JSON object, which the daemon checks.
  var payload: String
  /// How urgent it is; nil for normal.
  var urgency: Wire.Urgency?
  /// The id by which the daemon knows it again, of 256 bytes at most; nil if it has none.
  var id: String?
  /// Whether the source says that it gives it for the first time, though it may have used the id before.
  var isNew: Bool

  init(app: String, payload: String, urgency: Wire.Urgency? = nil, id: String? = nil, isNew: Bool = false) {
    (self.app, self.payload, self.urgency, self.id, self.isNew) = (app, payload, urgency, id, isNew)
  }

  /// The most bytes of a payload and the name of its app that are handed on; the daemon takes a quarter of it.
  private static let mostBytes = 16 << 10
  /// Why one that has more is refused.
  static let tooLarge = "it has more than \(mostBytes >> 10) KiB"

  /// Whether the daemon is asked at all.
  var fits: Bool { app.utf8.count + payload.utf8.count <= Self.mostBytes }

  /// How many bytes it has as JSON, about: a quotation mark of the payload becomes two.
  var bytesAbout: Int { 200 + app.utf8.count + 2 * payload.utf8.count + (id?.utf8.count ?? 0) }
}

/// What has become of a message that was handed to the bridge.
enum Acceptance: Hashable, Sendable {
  /// The daemon has it, on its disk: it may be acknowledged, and its id remembered.
  case stored
  /// It is refused for ever, with the reason, which has nothing of its payload: it is to be done with like a stored one.
  case refused(String)
  /// It was not handed on before its source was disconnected: it must not be acknowledged.
  case later
}
