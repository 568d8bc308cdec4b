import FoundationEssentials
import JSON
import RefreshAPI

/// A line of an ntfy server's JSON stream (docs.ntfy.sh/subscribe/api).
enum NtfyEvent: Hashable, Sendable {
  /// The stream has begun at this time of the server, in seconds since 1970; 0 if the line has no time.
  case open(time: Int64)
  /// A message of a topic.
  case message(NtfyMessage)
  /// A keep-alive; the server sends the first one after all messages from before the connection.
  case keepAlive
  /// A line without a message: an event of a later server.
  case other

  /// Reads a line; nil for a line that no ntfy server sends.
  init?(_ line: [UInt8]) {
    let fields: NtfyFields
    do { fields = try NtfyFields(jsonText: line) } catch { return nil }
    switch fields.event {
    case "open": self = .open(time: fields.time ?? 0)
    case "message":
      guard let id = fields.id, let topic = fields.topic else { return nil }
      self = .message(
        NtfyMessage(
          id: id, time: fields.time ?? 0, topic: topic, body: Self.body(fields),
          urgency: Self.urgency(fields.priority ?? 3)))
    case "keepalive": self = .keepAlive
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
        return .refused("it is not text")
      }
      return .text(text)
    default: return .refused("its encoding is unknown")
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
    /// The message cannot be a push, with the reason.
    case refused(String)
  }

  let id: String
  /// The time in seconds since 1970, for a scheduled message the time at which it was due; 0 if the line has none.
  let time: Int64
  /// The topic, which is a secret.
  let topic: String
  let body: Body
  let urgency: Wire.Urgency?
}

/// The fields of a line that the bridge uses.
private struct NtfyFields: JSONReadable {
  private(set) var id: String?
  private(set) var time: Int64?
  let event: String
  private(set) var topic: String?
  private(set) var message: String?
  private(set) var encoding: String?
  private(set) var priority: Int?
  private(set) var hasAttachment = false

  init(from json: inout JSONReader) throws(JSONError) {
    var event: String?
    var seen: UInt64 = 0
    try json.beginObject()
    while try json.nextKey() {
      switch json.keyText {
      case "id":
        try json.once(&seen, 0)
        id = try json.optional(String.self)
      case "time":
        try json.once(&seen, 1)
        time = try json.optional(Int64.self)
      case "event":
        try json.once(&seen, 2)
        event = try String(from: &json)
      case "topic":
        try json.once(&seen, 3)
        topic = try json.optional(String.self)
      case "message":
        try json.once(&seen, 4)
        message = try json.optional(String.self)
      case "encoding":
        try json.once(&seen, 5)
        encoding = try json.optional(String.self)
      case "priority":
        try json.once(&seen, 6)
        priority = try json.optional(Int.self)
      case "attachment":
        try json.once(&seen, 7)
        hasAttachment = try !json.null()
        if hasAttachment { try json.skip() }
      default: try json.skip()
      }
    }
    guard let event else { throw json.error(.missing("event"), at: 0) }
    self.event = event
  }
}

/// Splits the bytes of a stream into lines of bounded length.
///
/// Lines end with a line feed, with or without a carriage return before it. A longer line is skipped and counted.
struct LineBuffer: Hashable, Sendable {
  /// The most bytes of a line, without its end.
  let limit: Int
  /// The number of skipped lines.
  private(set) var passedOver = 0
  private var line: [UInt8] = []
  private var isTooLong = false

  init(limit: Int) { self.limit = limit }

  /// Appends bytes, and returns the lines that they complete.
  mutating func append(_ bytes: UnsafeRawBufferPointer) -> [[UInt8]] {
    var lines: [[UInt8]] = []
    var rest = bytes[...]
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      extendLine(rest[..<end])
      if let line = finish() { lines.append(line) }
      rest = rest[(end + 1)...]
    }
    extendLine(rest)
    return lines
  }

  private mutating func extendLine(_ part: Slice<UnsafeRawBufferPointer>) {
    guard !isTooLong else { return }
    // The limit has room for a final carriage return.
    guard line.count + part.count <= limit + 1 else {
      isTooLong = true
      line = []
      return
    }
    line.append(contentsOf: part)
  }

  private mutating func finish() -> [UInt8]? {
    defer {
      line = []
      isTooLong = false
    }
    if line.last == UInt8(ascii: "\r") { line.removeLast() }
    guard !isTooLong, line.count <= limit else {
      passedOver += 1
      return nil
    }
    return line
  }
}
