import JSON

/// The checked payload of a push: a pure function of its text.
public struct PushPayload: Hashable, Sendable {
  /// The most bytes of a payload in UTF-8, as many as a push service accepts.
  public static let mostBytes = 4_096
  /// The most bytes of a content id, which becomes a variable of the environment.
  public static let mostContentIDBytes = 255
  /// The deepest nesting of lists and objects.
  private static let mostLevels = 32

  /// The JSON text as it arrived; it is private to the app and must not be logged.
  public let text: String
  /// The `content-id`, the number 42 as `42`; nil if there is none.
  public let contentID: String?
  /// Whether the push starts a refresh (`aps.content-available`); otherwise only the attached processes receive it.
  public let isToWake: Bool
  /// The alert for the user (`aps.alert`); nil if there is none, or if its form is unknown.
  public let alert: Alert?

  /// A text for the user, and its title.
  public struct Alert: Hashable, Sendable {
    /// The title; nil for the app's name.
    public let title: String?
    /// The text.
    public let body: String
  }

  /// Parses and checks a payload.
  ///
  /// Throws an error whose reason contains nothing of the payload.
  public init(_ text: String) throws(AppInterface.InvalidPayload) {
    guard text.utf8.count <= Self.mostBytes else {
      throw .init(
        problem: "cannot use a payload of \(text.utf8.count) bytes",
        remedy: "Write \(Self.mostBytes) bytes at most, and let the app fetch the rest.")
    }
    let members = try Self.members(of: text)
    self.text = text
    contentID = try Self.value(of: "content-id", in: members).map(Self.contentID)
    let aps = try Self.value(of: "aps", in: members)
    isToWake = try aps.map(Self.isToWake) ?? false
    alert = try aps.flatMap(Self.alert)
  }

  private static func members(of text: String) throws(AppInterface.InvalidPayload) -> [JSONValue.Member] {
    let value: JSONValue
    do throws(JSONError) { value = try JSONValue(jsonText: Array(text.utf8), mostLevels: mostLevels) } catch {
      guard error.reason == .tooDeep else {
        throw .init(problem: "cannot read the payload as JSON", remedy: "Write one object of JSON (RFC 8259).")
      }
      throw .init(
        problem: "cannot use JSON with more than \(mostLevels) levels",
        remedy: "Write it with fewer levels, or let the app fetch the rest.")
    }
    guard case .object(let members) = value else {
      throw .init(problem: "cannot use JSON that is not an object", remedy: "Put it into an object: {…}.")
    }
    return members
  }

  /// The value of a name in an object; nil if there is none.
  ///
  /// Readers differ in their choice among equal names, so the app could see another value than refreshd.
  private static func value(
    of name: String, in members: [JSONValue.Member]
  ) throws(AppInterface.InvalidPayload) -> JSONValue? {
    let found = members.filter { $0.name == name }
    guard found.count <= 1 else {
      throw .init(problem: "cannot read \(name): it appears twice", remedy: "Write it once.")
    }
    return found.first?.value
  }

  private static func contentID(_ value: JSONValue) throws(AppInterface.InvalidPayload) -> String {
    guard let text = value.word else {
      throw .init(
        problem: "cannot read content-id: it is neither a string nor a plain number",
        remedy: #"Write for example "content-id": 42."#)
    }
    // The id becomes an environment variable, a journal field and a word on terminals.
    guard (1...mostContentIDBytes).contains(text.utf8.count), text.unicodeScalars.allSatisfy(\.isPrintable) else {
      throw .init(
        problem: "cannot use a content-id that is empty, longer than \(mostContentIDBytes) bytes or has control or "
          + "format characters", remedy: "Write 1 to \(mostContentIDBytes) bytes without such characters.")
    }
    return text
  }

  /// The alert in the form of push services: a text, or an object with `title` and `body`.
  ///
  /// The app itself defines an alert of another form.
  private static func alert(_ aps: JSONValue) throws(AppInterface.InvalidPayload) -> Alert? {
    guard case .object(let members) = aps, let alert = try value(of: "alert", in: members) else { return nil }
    switch alert {
    case .text(let body): return body.isEmpty ? nil : Alert(title: nil, body: body)
    case .object(let parts):
      guard case .text(let body)? = try value(of: "body", in: parts), !body.isEmpty else { return nil }
      if case .text(let title)? = try value(of: "title", in: parts), !title.isEmpty {
        return Alert(title: title, body: body)
      }
      return Alert(title: nil, body: body)
    default: return nil
    }
  }

  private static func isToWake(_ aps: JSONValue) throws(AppInterface.InvalidPayload) -> Bool {
    guard case .object(let members) = aps else {
      throw .init(
        problem: "cannot read aps: it is not an object", remedy: #"Write for example "aps": {"content-available": 1}."#)
    }
    guard let value = try value(of: "content-available", in: members) else { return false }
    if case .flag(let flag) = value { return flag }
    switch value.decimal?.text {
    case "1": return true
    case "0": return false
    default:
      throw .init(
        problem: "cannot read aps.content-available: it is not 1, 0, true or false",
        remedy: "Write 1 to wake the app, or leave it out.")
    }
  }
}

extension JSONValue {
  /// The number in plain digits; nil for any other value, or for a number with too many digits.
  fileprivate var decimal: DecimalText? {
    guard case .number(let digits) = self else { return nil }
    return DecimalText(digits)
  }

  /// A text, or a number as people write it: `42` for 42.0.
  fileprivate var word: String? {
    if case .text(let text) = self { return text }
    return decimal?.text
  }
}

/// A number of JSON in plain digits, exactly as it was written: `42.0` is `42`, `1e3` is `1000`.
private struct DecimalText: Equatable {
  /// The most digits, as many as the decimal types of databases and of Foundation have.
  private static let mostDigits = 38
  private static let exponents = -128...127

  let text: String

  /// Reads a number that follows the grammar; nil if it has too many digits or too large an exponent.
  init?(_ number: String) {
    let parts = number.utf8.split(maxSplits: 1, omittingEmptySubsequences: false) { $0 | 0x20 == UInt8(ascii: "e") }
    guard let mantissa = parts.first, var exponent = parts.count > 1 ? Int(String(parts[1]) ?? "") : 0 else {
      return nil
    }
    let isNegative = mantissa.first == UInt8(ascii: "-")
    let pieces = mantissa.drop { $0 == UInt8(ascii: "-") }.split(
      separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
    let fraction = pieces.count > 1 ? pieces[1].count : 0
    var digits = Array(pieces.joined().drop { $0 == UInt8(ascii: "0") })
    guard !digits.isEmpty else {
      text = "0"
      return
    }
    guard exponent.magnitude < 1_000_000 else { return nil }
    exponent -= fraction
    while digits.last == UInt8(ascii: "0") {
      digits.removeLast()
      exponent += 1
    }
    guard digits.count <= Self.mostDigits, Self.exponents.contains(exponent) else { return nil }
    text = (isNegative ? "-" : "") + Self.plain(digits, exponent)
  }

  private static func plain(_ digits: [UInt8], _ exponent: Int) -> String {
    let zeros = { (count: Int) in String(repeating: "0", count: max(0, count)) }
    let text = String(decoding: digits, as: UTF8.self)
    guard exponent < 0 else { return text + zeros(exponent) }
    let padded = zeros(1 - exponent - digits.count) + text
    return "\(padded.dropLast(-exponent)).\(padded.suffix(-exponent))"
  }
}
