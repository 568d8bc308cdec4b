import FoundationEssentials

/// The payload of a push that was checked (FEATURES E1): a pure function of its text.
public struct PushPayload: Hashable, Sendable {
  /// The most bytes of UTF-8 that a payload may have, as many as a push service takes.
  public static let mostBytes = 4_096
  /// The most bytes of a content id, which becomes a variable of the environment.
  public static let mostContentIDBytes = 255

  /// The JSON text as it came; it is the app's own and belongs in no log.
  public let text: String
  /// What it calls its content, the number 42 as `42`; nil when it does not say.
  public let contentID: String?
  /// Whether it wakes the app (`aps.content-available`); else the attached processes are told, and that is all.
  public let isToWake: Bool

  /// Checks a payload.
  ///
  /// Throws what is wrong with it, in words that hold nothing of it.
  public init(_ text: String) throws(AppInterface.InvalidPayload) {
    guard text.utf8.count <= Self.mostBytes else {
      throw .init(
        problem: "cannot take a payload of \(text.utf8.count) bytes",
        remedy: "Write \(Self.mostBytes) bytes at most, and have the app fetch the rest.")
    }
    let members = try Self.members(of: text)
    self.text = text
    contentID = try members["content-id"].map(Self.contentID)
    isToWake = try members["aps"].map(Self.isToWake) ?? false
  }

  private static func members(of text: String) throws(AppInterface.InvalidPayload) -> [String: JSONValue] {
    let value: JSONValue
    do { value = try JSONValue(jsonText: [UInt8](text.utf8)) } catch {
      throw .init(problem: "cannot read the payload as JSON", remedy: "Write one object of JSON (RFC 8259).")
    }
    guard case .object(let members) = value else {
      throw .init(problem: "cannot take JSON that is no object", remedy: "Put it into an object: {…}.")
    }
    return members
  }

  private static func contentID(_ value: JSONValue) throws(AppInterface.InvalidPayload) -> String {
    let text: String
    switch value {
    case .number(let number): text = "\(number)"
    case .text(let string): text = string
    case .null, .flag, .list, .object, .other:
      throw .init(
        problem: "cannot read content-id: it is neither a string nor a number",
        remedy: #"Write for example "content-id": 42."#)
    }
    // It becomes a variable, a field of the journal and a word on terminals.
    guard (1...mostContentIDBytes).contains(text.utf8.count), text.unicodeScalars.allSatisfy(\.isPrintable) else {
      throw .init(
        problem: "cannot take a content-id that is empty, longer than \(mostContentIDBytes) bytes or has control "
          + "characters", remedy: "Write 1 to \(mostContentIDBytes) bytes without control characters.")
    }
    return text
  }

  private static func isToWake(_ aps: JSONValue) throws(AppInterface.InvalidPayload) -> Bool {
    guard case .object(let members) = aps else {
      throw .init(
        problem: "cannot read aps: it is no object", remedy: #"Write for example "aps": {"content-available": 1}."#)
    }
    switch members["content-available"] {
    case nil: return false
    case .flag(let flag): return flag
    case .number(1): return true
    case .number(0): return false
    case .some:
      throw .init(
        problem: "cannot read aps.content-available: it is none of 1, 0, true and false",
        remedy: "Write 1 to wake the app, or leave it out.")
    }
  }
}

/// A value of JSON with all that is in it.
///
/// `JSONDecoder` looks at a member only when it is asked for; this way nothing of a document is left unread.
private enum JSONValue: Decodable {
  case null
  case flag(Bool)
  case number(Decimal)
  case text(String)
  case list([JSONValue])
  case object([String: JSONValue])
  /// A number beyond all that a computer counts with.
  case other

  init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if value.decodeNil() {
      self = .null
    } else if let flag = try Self.read({ try value.decode(Bool.self) }) {
      self = .flag(flag)
    } else if let text = try Self.read({ try value.decode(String.self) }) {
      self = .text(text)
    } else if let list = try Self.read({ try decoder.unkeyedContainer() }) {
      self = .list(try Self.elements(of: list))
    } else if let object = try Self.read({ try decoder.container(keyedBy: Key.self) }) {
      self = .object(try Self.members(of: object))
    } else if let number = try? value.decode(Decimal.self) {
      self = .number(number)
    } else {
      self = .other
    }
  }

  /// What `body` reads; nil if the value is of another type.
  private static func read<Value>(_ body: () throws -> Value) throws -> Value? {
    do { return try body() } catch DecodingError.typeMismatch { return nil }
  }

  private static func elements(of list: any UnkeyedDecodingContainer) throws -> [JSONValue] {
    var list = list
    var elements: [JSONValue] = []
    while !list.isAtEnd { elements.append(try list.decode(JSONValue.self)) }
    return elements
  }

  private static func members(of object: KeyedDecodingContainer<Key>) throws -> [String: JSONValue] {
    var members: [String: JSONValue] = [:]
    for key in object.allKeys { members[key.stringValue] = try object.decode(JSONValue.self, forKey: key) }
    return members
  }

  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }
}

extension Unicode.Scalar {
  /// Whether it is no control character and breaks no line.
  fileprivate var isPrintable: Bool {
    switch properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: false
    default: true
    }
  }
}
