import Glibc

/// A forward-only reader of JSON text: RFC 8259 and nothing else, in one pass.
///
/// The caller asks for the types it expects. The reader skips members that the caller does not know, and checks them as
/// strictly as if it read them. The depth and every number are bounded; the given bytes bound the size. The bytes must
/// outlive the reader.
///
///     var json = JSONReader(bytes)
///     let name = try String(from: &json)
///     try json.end()
public struct JSONReader {
  /// The deepest nesting of lists and objects, unless the caller sets another bound.
  public static let mostLevels = 128

  @usableFromInline let bytes: UnsafeRawBufferPointer
  /// The offset of the next byte.
  public var position: Int
  @usableFromInline var levels = 0
  let mostLevels: Int
  /// The most values of a list.
  @usableFromInline let mostInList: Int
  /// Whether a list or an object has begun and nothing of it is read.
  @usableFromInline var isFirst = false
  /// The bytes of the last key or word between its quotes.
  @usableFromInline var word = 0..<0
  @usableFromInline var isWordEscaped = false

  /// Makes a reader of bytes, from an offset on.
  public init(
    _ bytes: UnsafeRawBufferPointer, from start: Int = 0, mostLevels: Int = JSONReader.mostLevels,
    mostInList: Int = .max
  ) {
    self.bytes = bytes
    position = start
    self.mostLevels = mostLevels
    self.mostInList = mostInList
  }

  /// Returns to an offset at which a value began, with the nesting at that place.
  ///
  /// For a caller that reads a value again in another way.
  public mutating func rewind(to start: Int, levels: Int) {
    (position, self.levels, isFirst) = (start, levels, false)
  }

  /// How many lists and objects are open.
  public var openLevels: Int { levels }

  /// The byte at the position; nil at the end.
  @inlinable var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  /// Makes an error about the value at the position.
  @usableFromInline
  func error(_ reason: JSONError.Reason) -> JSONError { JSONError(reason, at: position) }

  /// Makes an error about the value that begins at an offset.
  public func error(_ reason: JSONError.Reason, at offset: Int) -> JSONError { JSONError(reason, at: offset) }

  /// Skips white space.
  @inlinable
  public mutating func skipSpace() {
    while position < bytes.count {
      let byte = bytes[position]
      guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return }
      position += 1
    }
  }

  /// Checks that only white space is left.
  public mutating func end() throws(JSONError) {
    skipSpace()
    guard position == bytes.count else { throw error(.malformed) }
  }

  // MARK: - Objects and lists

  /// Moves into an object.
  @inlinable
  public mutating func beginObject() throws(JSONError) { try begin(UInt8(ascii: "{"), "object") }

  /// Moves into a list.
  @inlinable
  public mutating func beginArray() throws(JSONError) { try begin(UInt8(ascii: "["), "list") }

  @usableFromInline
  mutating func begin(_ bracket: UInt8, _ type: StaticWord) throws(JSONError) {
    skipSpace()
    guard next == bracket else { throw error(.expected(type)) }
    guard levels < mostLevels else { throw error(.tooDeep) }
    position += 1
    levels += 1
    isFirst = true
  }

  /// Moves to the value of the next member and keeps its name for ``keyIs(_:)``; returns false at the end of the object.
  @inlinable
  public mutating func nextKey() throws(JSONError) -> Bool {
    guard try nextItem(UInt8(ascii: "}")) else { return false }
    try readWord()
    skipSpace()
    guard next == UInt8(ascii: ":") else { throw error(.malformed) }
    position += 1
    skipSpace()
    return true
  }

  /// Moves to the next element; returns false at the end of the list.
  @inlinable
  public mutating func nextElement() throws(JSONError) -> Bool {
    try nextItem(UInt8(ascii: "]"))
  }

  @usableFromInline
  mutating func nextItem(_ closing: UInt8) throws(JSONError) -> Bool {
    skipSpace()
    if next == closing {
      position += 1
      levels -= 1
      isFirst = false
      return false
    }
    if isFirst {
      isFirst = false
    } else {
      guard next == UInt8(ascii: ",") else { throw error(.malformed) }
      position += 1
      skipSpace()
    }
    return true
  }

  /// Throws if a member was read before: each known member has a bit in `seen`.
  @inlinable
  public func once(_ seen: inout UInt64, _ index: UInt64) throws(JSONError) {
    let bit: UInt64 = 1 &<< index
    guard seen & bit == 0 else { throw error(.duplicate) }
    seen |= bit
  }

  // MARK: - Skipping

  /// Skips a value of any type, and checks it.
  public mutating func skip() throws(JSONError) {
    skipSpace()
    switch next {
    case UInt8(ascii: "{"):
      try beginObject()
      while try nextKey() { try skip() }
    case UInt8(ascii: "["):
      try beginArray()
      while try nextElement() { try skip() }
    case UInt8(ascii: "\""): try readWord()
    case UInt8(ascii: "t"), UInt8(ascii: "f"): _ = try bool()
    case UInt8(ascii: "n"): guard try null() else { throw error(.malformed) }
    default: _ = try number()
    }
  }
}

extension JSONReader {
  /// Skips `null`; returns false if the value is another.
  @inlinable
  public mutating func null() throws(JSONError) -> Bool {
    skipSpace()
    guard next == UInt8(ascii: "n") else { return false }
    try literal("null")
    return true
  }

  /// Reads `true` or `false`.
  public mutating func bool() throws(JSONError) -> Bool {
    skipSpace()
    switch next {
    case UInt8(ascii: "t"):
      try literal("true")
      return true
    case UInt8(ascii: "f"):
      try literal("false")
      return false
    default: throw error(.expected("bool"))
    }
  }

  @usableFromInline
  mutating func literal(_ text: StaticString) throws(JSONError) {
    let count = text.utf8CodeUnitCount
    guard position + count <= bytes.count, let base = bytes.baseAddress,
      memcmp(base + position, text.utf8Start, count) == 0
    else { throw error(.malformed) }
    position += count
  }

  // MARK: - Numbers

  /// The most bytes of a number; a longer number can only be skipped.
  private static let mostDigits = 512

  /// Reads a whole number, also if it has a fraction or an exponent, such as `2e3`.
  public mutating func int64() throws(JSONError) -> Int64 {
    skipSpace()
    let start = position
    let text = try number()
    var index = text.lowerBound
    let isNegative = bytes[index] == UInt8(ascii: "-")
    if isNegative { index += 1 }
    var value: Int64 = 0
    while index < text.upperBound {
      let byte = bytes[index]
      guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else {
        guard let exact = Int64(exactly: try double(text)) else { throw error(.outOfRange, at: start) }
        return exact
      }
      let (shifted, isTooLarge) = value.multipliedReportingOverflow(by: 10)
      let digit = Int64(byte - UInt8(ascii: "0"))
      let (sum, overflows) =
        isNegative
        ? shifted.subtractingReportingOverflow(digit) : shifted.addingReportingOverflow(digit)
      guard !isTooLarge, !overflows else { throw error(.outOfRange, at: start) }
      value = sum
      index += 1
    }
    return value
  }

  /// Reads a number.
  public mutating func double() throws(JSONError) -> Double {
    skipSpace()
    return try double(try number())
  }

  private func double(_ text: Range<Int>) throws(JSONError) -> Double {
    guard text.count <= Self.mostDigits else { throw error(.outOfRange, at: text.lowerBound) }
    let digits = String(decoding: UnsafeRawBufferPointer(rebasing: bytes[text]), as: UTF8.self)
    guard let value = Double(digits), value.isFinite else { throw error(.outOfRange, at: text.lowerBound) }
    return value
  }

  /// Skips a number, and returns its range.
  mutating func number() throws(JSONError) -> Range<Int> {
    let start = position
    if next == UInt8(ascii: "-") { position += 1 }
    if next == UInt8(ascii: "0") {
      position += 1
    } else {
      guard digits() else { throw error(position == start ? .expected("number") : .malformed, at: start) }
    }
    if next == UInt8(ascii: ".") {
      position += 1
      guard digits() else { throw error(.malformed) }
    }
    if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
      position += 1
      if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { position += 1 }
      guard digits() else { throw error(.malformed) }
    }
    return start..<position
  }

  /// Skips digits; returns false if there are none.
  private mutating func digits() -> Bool {
    let start = position
    while let byte = next, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { position += 1 }
    return position > start
  }
}

extension JSONReader {
  /// Reads a string.
  public mutating func string() throws(JSONError) -> String {
    skipSpace()
    try readWord()
    return wordText
  }

  /// Skips a string and keeps its bytes for ``keyIs(_:)``.
  @usableFromInline
  mutating func readWord() throws(JSONError) {
    let start = position
    guard next == UInt8(ascii: "\"") else { throw error(.expected("string")) }
    var index = start + 1
    var isASCII = true
    var isEscaped = false
    while index < bytes.count {
      let byte = bytes[index]
      if byte == UInt8(ascii: "\"") {
        word = (start + 1)..<index
        isWordEscaped = isEscaped
        position = index + 1
        if !isASCII { try checkUTF8(from: start) }
        return
      }
      if byte == UInt8(ascii: "\\") {
        isEscaped = true
        index = try skipEscape(at: index)
        continue
      }
      guard byte >= 0x20 else { throw error(.malformed, at: index) }
      if byte >= 0x80 { isASCII = false }
      index += 1
    }
    throw error(.malformed, at: index)
  }

  private func checkUTF8(from start: Int) throws(JSONError) {
    let text = UnsafeRawBufferPointer(rebasing: bytes[word])
    do { _ = try UTF8Span(validating: Span(_unsafeBytes: text)) } catch { throw self.error(.malformed, at: start) }
  }

  /// Reads a word of an enum for ``keyIs(_:)``; returns the offset of its start.
  @inlinable
  public mutating func enumWord() throws(JSONError) -> Int {
    skipSpace()
    let start = position
    try readWord()
    return start
  }

  /// Whether the last key or word equals this word.
  @inlinable
  public func keyIs(_ name: StaticString) -> Bool {
    if isWordEscaped { return wordText == name.description }
    let count = name.utf8CodeUnitCount
    guard word.count == count, let base = bytes.baseAddress else { return false }
    return memcmp(base + word.lowerBound, name.utf8Start, count) == 0
  }

  /// The name of the current member.
  public var keyText: String { wordText }

  // MARK: - Escapes

  /// The last string with its escapes resolved.
  @usableFromInline var wordText: String {
    let text = UnsafeRawBufferPointer(rebasing: bytes[word])
    guard isWordEscaped else { return String(decoding: text, as: UTF8.self) }
    var resolved: [UInt8] = []
    resolved.reserveCapacity(text.count)
    var index = 0
    while index < text.count {
      if text[index] == UInt8(ascii: "\\") {
        let (scalar, end) = Self.escaped(in: text, at: index)
        resolved.append(contentsOf: String(scalar).utf8)
        index = end
      } else {
        resolved.append(text[index])
        index += 1
      }
    }
    return String(decoding: resolved, as: UTF8.self)
  }

  /// Checks the escape whose backslash is at an index, and returns the index after it.
  ///
  /// The grammar allows half a surrogate pair, but no text can hold it.
  private func skipEscape(at index: Int) throws(JSONError) -> Int {
    guard index + 1 < bytes.count else { throw error(.malformed, at: index) }
    switch bytes[index + 1] {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
      UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      return index + 2
    case UInt8(ascii: "u"):
      guard let unit = Self.codeUnit(in: bytes, at: index) else { throw error(.malformed, at: index) }
      guard UTF16.isSurrogate(unit) else { return index + 6 }
      guard UTF16.isLeadSurrogate(unit), let trail = Self.codeUnit(in: bytes, at: index + 6),
        UTF16.isTrailSurrogate(trail)
      else { throw error(.malformed, at: index) }
      return index + 12
    default: throw error(.malformed, at: index)
    }
  }

  /// The character of a checked escape, and the index after it.
  private static func escaped(in text: UnsafeRawBufferPointer, at index: Int) -> (Unicode.Scalar, Int) {
    switch text[index + 1] {
    case UInt8(ascii: "b"): return ("\u{8}", index + 2)
    case UInt8(ascii: "f"): return ("\u{C}", index + 2)
    case UInt8(ascii: "n"): return ("\n", index + 2)
    case UInt8(ascii: "r"): return ("\r", index + 2)
    case UInt8(ascii: "t"): return ("\t", index + 2)
    case UInt8(ascii: "u"):
      let unit = codeUnit(in: text, at: index) ?? 0xFFFD
      if let scalar = Unicode.Scalar(unit) { return (scalar, index + 6) }
      let trail = codeUnit(in: text, at: index + 6) ?? 0xDC00
      let number = 0x10000 + (UInt32(unit & 0x3FF) << 10 | UInt32(trail & 0x3FF))
      return (Unicode.Scalar(number) ?? "\u{FFFD}", index + 12)
    case let byte: return (Unicode.Scalar(byte), index + 2)
    }
  }

  /// The code unit of `\u` and four hexadecimal digits; nil if they are missing.
  private static func codeUnit(in text: UnsafeRawBufferPointer, at index: Int) -> UInt16? {
    guard index + 6 <= text.count, text[index] == UInt8(ascii: "\\"), text[index + 1] == UInt8(ascii: "u") else {
      return nil
    }
    var unit: UInt16 = 0
    for byte in text[(index + 2)..<(index + 6)] {
      let digit: UInt8
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
      case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
      case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
      default: return nil
      }
      unit = unit << 4 | UInt16(digit)
    }
    return unit
  }
}
