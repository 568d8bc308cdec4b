import RefreshAPI

/// A message from a source for an app.
struct Message: Hashable, Sendable {
  /// The id of the app in reverse-DNS form.
  var app: String
  /// The text of a JSON object, which the daemon checks.
  var payload: String
  /// The urgency; nil for normal.
  var urgency: Wire.Urgency?
  /// The id by which the daemon recognizes a repeated message, 256 bytes at most; nil for none.
  var id: String?
  /// Whether the source marks the message as new, although it may have used the id before.
  var isNew: Bool

  init(app: String, payload: String, urgency: Wire.Urgency? = nil, id: String? = nil, isNew: Bool = false) {
    (self.app, self.payload, self.urgency, self.id, self.isNew) = (app, payload, urgency, id, isNew)
  }

  /// The most bytes of a payload and its app's name that go to the daemon, which accepts a quarter of them.
  private static let mostBytes = 16 << 10
  /// The reason for the refusal of a larger message.
  static let tooLarge = "it has more than \(mostBytes >> 10) KiB"

  /// Whether the message may go to the daemon.
  var isWithinLimit: Bool { app.utf8.count + payload.utf8.count <= Self.mostBytes }

  /// The estimated size as JSON, where a quotation mark of the payload takes two bytes.
  var estimatedBytes: Int { 200 + app.utf8.count + 2 * payload.utf8.count + (id?.utf8.count ?? 0) }
}

/// The fate of a message that a source handed over to the bridge.
enum MessageFate: Hashable, Sendable {
  /// The daemon has stored the message on disk. The source may acknowledge it, or store its id.
  case stored
  /// The daemon has stored the message before.
  case known
  /// The message is refused for good. The reason contains no payload; the source treats the message like a stored one.
  case refused(String)
  /// The source was disconnected before the delivery. The source must not acknowledge the message.
  case undelivered
}
