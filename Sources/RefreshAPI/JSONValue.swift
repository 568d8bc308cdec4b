/// A value of JSON, as far as refreshd looks into what an app is sent.
enum JSONValue: Hashable, Sendable {
  case null
  case flag(Bool)
  /// A number as it is written, of any size.
  case number(String)
  case text(String)
  /// What is in it is nobody's business but the app's.
  case list
  /// Its members in their order, also those of the same name.
  case object([Member])

  /// A name in an object, and its value.
  struct Member: Hashable, Sendable {
    let name: String
    let value: JSONValue
  }

  /// Why a text is not taken.
  enum Problem: Error {
    case malformed
    case tooDeep
  }

  /// The most levels of lists and objects within each other.
  static let mostLevels = 32

  /// Reads one text of JSON: RFC 8259 and nothing beside it, in one pass.
  ///
  /// `JSONDecoder` is no use here: it takes more than the grammar, a comma at the end among it, and makes an error that
  /// names the whole way to a value for each type that the value has not, which in a deep text takes seconds.
  init(reading text: String) throws(Problem) {
    var scanner = JSONScanner(text)
    self = try scanner.document()
  }
}

/// A place in a text of JSON, which only moves on.
private struct JSONScanner {
  private let bytes: [UInt8]
  private var position = 0

  init(_ text: String) { bytes = Array(text.utf8) }

  mutating func document() throws(JSONValue.Problem) -> JSONValue {
    let value = try value(inside: 0)
    guard position == bytes.count else { throw .malformed }
    return value
  }

  /// The byte at the place; nil at the end.
  private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  /// Reads a value with the white space around it.
  private mutating func value(inside levels: Int) throws(JSONValue.Problem) -> JSONValue {
    skipSpace()
    defer { skipSpace() }
    switch next {
    case UInt8(ascii: "{"): return .object(try members(inside: levels))
    case UInt8(ascii: "["):
      try elements(inside: levels)
      return .list
    case UInt8(ascii: "\""): return .text(try string())
    case UInt8(ascii: "t"): return try word("true", .flag(true))
    case UInt8(ascii: "f"): return try word("false", .flag(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    default: return .number(try number())
    }
  }

  private mutating func skipSpace() {
    while let byte = next, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { position += 1 }
  }

  /// Moves over the byte if it is the one here.
  private mutating func skip(_ scalar: Unicode.Scalar) -> Bool {
    guard next == UInt8(ascii: scalar) else { return false }
    position += 1
    return true
  }

  private mutating func expect(_ scalar: Unicode.Scalar) throws(JSONValue.Problem) {
    guard skip(scalar) else { throw .malformed }
  }

  private mutating func word(_ word: StaticString, _ value: JSONValue) throws(JSONValue.Problem) -> JSONValue {
    for offset in 0..<word.utf8CodeUnitCount {
      guard next == word.utf8Start[offset] else { throw .malformed }
      position += 1
    }
    return value
  }

  private mutating func members(inside levels: Int) throws(JSONValue.Problem) -> [JSONValue.Member] {
    try expect("{")
    guard levels < JSONValue.mostLevels else { throw .tooDeep }
    var members: [JSONValue.Member] = []
    skipSpace()
    if skip("}") { return members }
    repeat {
      skipSpace()
      let name = try string()
      skipSpace()
      try expect(":")
      members.append(JSONValue.Member(name: name, value: try value(inside: levels + 1)))
    } while skip(",")
    try expect("}")
    return members
  }

  private mutating func elements(inside levels: Int) throws(JSONValue.Problem) {
    try expect("[")
    guard levels < JSONValue.mostLevels else { throw .tooDeep }
    skipSpace()
    if skip("]") { return }
    repeat { _ = try value(inside: levels + 1) } while skip(",")
    try expect("]")
  }

  private mutating func number() throws(JSONValue.Problem) -> String {
    let start = position
    _ = skip("-")
    if !skip("0") { try digits() }
    if skip(".") { try digits() }
    if skip("e") || skip("E") {
      if !skip("+") { _ = skip("-") }
      try digits()
    }
    return String(decoding: bytes[start..<position], as: UTF8.self)
  }

  /// Moves over one digit or more.
  private mutating func digits() throws(JSONValue.Problem) {
    let start = position
    while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
    guard position > start else { throw .malformed }
  }

  // MARK: - Strings

  private mutating func string() throws(JSONValue.Problem) -> String {
    try expect("\"")
    var text: [UInt8] = []
    while let byte = next {
      position += 1
      switch byte {
      case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
      case UInt8(ascii: "\\"): try text.append(contentsOf: String(escaped()).utf8)
      case ..<0x20: throw .malformed
      default: text.append(byte)
      }
    }
    throw .malformed
  }

  /// The character for which an escape stands, whose backslash is behind.
  private mutating func escaped() throws(JSONValue.Problem) -> Unicode.Scalar {
    guard let byte = next else { throw .malformed }
    position += 1
    switch Unicode.Scalar(byte) {
    case "\"", "\\", "/": return Unicode.Scalar(byte)
    case "b": return "\u{8}"
    case "f": return "\u{C}"
    case "n": return "\n"
    case "r": return "\r"
    case "t": return "\t"
    case "u": return try scalar()
    default: throw .malformed
    }
  }

  /// The character of four hexadecimal digits, or of two times four where the first are half of one.
  ///
  /// A half on its own is grammar, but no character: no text could hold it.
  private mutating func scalar() throws(JSONValue.Problem) -> Unicode.Scalar {
    let first = try codeUnit()
    if let scalar = Unicode.Scalar(first) { return scalar }
    guard UTF16.isLeadSurrogate(first), skip("\\"), skip("u") else { throw .malformed }
    let second = try codeUnit()
    let number = 0x10000 + (UInt32(first & 0x3FF) << 10 | UInt32(second & 0x3FF))
    guard UTF16.isTrailSurrogate(second), let scalar = Unicode.Scalar(number) else { throw .malformed }
    return scalar
  }

  private mutating func codeUnit() throws(JSONValue.Problem) -> UInt16 {
    var unit: UInt16 = 0
    for _ in 0..<4 {
      guard let digit = next.flatMap({ Character(Unicode.Scalar($0)).hexDigitValue }) else { throw .malformed }
      unit = unit << 4 | UInt16(digit)
      position += 1
    }
    return unit
  }
}
