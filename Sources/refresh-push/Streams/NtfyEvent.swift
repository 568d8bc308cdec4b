import FoundationEssentials
import RefreshAPI

/// A line of an ntfy server's JSON stream (docs.ntfy.sh/subscribe/api).
enum NtfyEvent: Hashable, Sendable {
  /// The stream has begun at this time of the server, in seconds since 1970; 0 if the line has no time.
  case open(time: Int64)
  /// A message of a topic.
  case message(NtfyMessage)
  /// A line without a message: a keep-alive, or an event that is new in later servers.
  case other

  /// Reads a line; nil for a line that no ntfy server sends.
  init?(_ line: [UInt8]) {
    let fields: NtfyFields
    do { fields = try JSONDecoder().decode(NtfyFields.self, from: Data(line)) } catch { return nil }
    switch fields.event {
    case "open": self = .open(time: fields.time ?? 0)
    case "message":
      guard let id = fields.id, let topic = fields.topic else { return nil }
      self = .message(
        NtfyMessage(id: id, topic: topic, body: Self.body(fields), urgency: Self.urgency(fields.priority ?? 3)))
    default: self = .other
    }
  }

  private static func body(_ fields: NtfyFields) -> NtfyMessage.Body {
    if fields.hasAttachment { return .refused("it has an attachment; publish the payload as the message itself") }
    guard let message = fields.message else { return .refused("it is empty") }
    switch fields.encoding {
    case nil, "": return .text(message)
    case "base64":
      guard let bytes = Data(base64Encoded: message), let text = String(validating: bytes, as: UTF8.self) else {
        return .refused("it is no text")
      }
      return .text(text)
    default: return .refused("its encoding is not known")
    }
  }

  /// ntfy counts from 1 (min) to 5 (max).
  private static func urgency(_ priority: Int) -> Wire.Urgency? {
    switch priority {
    case ...1: .veryLow
    case 2: .low
    case 3: nil
    default: .high
    }
  }
}

/// A message of an ntfy server.
struct NtfyMessage: Hashable, Sendable {
  /// The content.
  enum Body: Hashable, Sendable {
    case text(String)
    /// The message is no push, with the reason.
    case refused(String)
  }

  let id: String
  /// The topic, which is a secret.
  let topic: String
  let body: Body
  let urgency: Wire.Urgency?
}

/// The fields of a line that the bridge uses.
private struct NtfyFields: Decodable {
  let id: String?
  let time: Int64?
  let event: String
  let topic: String?
  let message: String?
  let encoding: String?
  let priority: Int?
  let hasAttachment: Bool

  private enum Key: String, CodingKey {
    case id, time, event, topic, message, encoding, priority, attachment
  }

  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: Key.self)
    id = try fields.decodeIfPresent(String.self, forKey: .id)
    time = try fields.decodeIfPresent(Int64.self, forKey: .time)
    event = try fields.decode(String.self, forKey: .event)
    topic = try fields.decodeIfPresent(String.self, forKey: .topic)
    message = try fields.decodeIfPresent(String.self, forKey: .message)
    encoding = try fields.decodeIfPresent(String.self, forKey: .encoding)
    priority = try fields.decodeIfPresent(Int.self, forKey: .priority)
    hasAttachment = try fields.contains(.attachment) && !fields.decodeNil(forKey: .attachment)
  }
}
