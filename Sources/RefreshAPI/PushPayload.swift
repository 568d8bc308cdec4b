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
    let fields = try Self.fields(of: text)
    self.text = text
    contentID = try fields.contentID.map(Self.contentID)
    isToWake = try fields.aps?.contentAvailable.map(Self.isToWake) ?? false
  }

  private static func fields(of text: String) throws(AppInterface.InvalidPayload) -> Fields {
    do {
      return try Fields(jsonText: [UInt8](text.utf8))
    } catch DecodingError.typeMismatch(_, let context) {
      throw context.codingPath.isEmpty
        ? .init(problem: "cannot take JSON that is no object", remedy: "Put it into an object: {…}.")
        : .init(
          problem: "cannot read aps: it is no object", remedy: #"Write for example "aps": {"content-available": 1}."#)
    } catch {
      throw .init(problem: "cannot read the payload as JSON", remedy: "Write one object of JSON (RFC 8259).")
    }
  }

  private static func contentID(_ value: Scalar) throws(AppInterface.InvalidPayload) -> String {
    let text: String
    switch value {
    case .number(let number): text = "\(number)"
    case .text(let string): text = string
    case .flag, .other:
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

  private static func isToWake(_ value: Scalar) throws(AppInterface.InvalidPayload) -> Bool {
    switch value {
    case .flag(let flag): return flag
    case .number(1): return true
    case .number(0): return false
    case .number, .text, .other:
      throw .init(
        problem: "cannot read aps.content-available: it is none of 1, 0, true and false",
        remedy: "Write 1 to wake the app, or leave it out.")
    }
  }
}

/// What of a payload is refreshd's business; all other keys are the app's own.
private struct Fields: Decodable {
  let aps: Aps?
  let contentID: Scalar?

  struct Aps: Decodable {
    let contentAvailable: Scalar?

    enum CodingKeys: String, CodingKey {
      case contentAvailable = "content-available"
    }

    init(from decoder: any Decoder) throws {
      let aps = try decoder.container(keyedBy: CodingKeys.self)
      contentAvailable = aps.contains(.contentAvailable) ? try aps.decode(Scalar.self, forKey: .contentAvailable) : nil
    }
  }

  enum CodingKeys: String, CodingKey {
    case aps
    case contentID = "content-id"
  }

  // By hand, because a null is not the same as nothing: it was meant to be something.
  init(from decoder: any Decoder) throws {
    let payload = try decoder.container(keyedBy: CodingKeys.self)
    aps = payload.contains(.aps) ? try payload.decode(Aps.self, forKey: .aps) : nil
    contentID = payload.contains(.contentID) ? try payload.decode(Scalar.self, forKey: .contentID) : nil
  }
}

/// A value of JSON, as far as a payload's own keys can be one.
private enum Scalar: Decodable {
  case flag(Bool)
  case number(Decimal)
  case text(String)
  case other

  init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if let flag = try? value.decode(Bool.self) {
      self = .flag(flag)
    } else if let number = try? value.decode(Decimal.self) {
      self = .number(number)
    } else if let text = try? value.decode(String.self) {
      self = .text(text)
    } else {
      self = .other
    }
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
