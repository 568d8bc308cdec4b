import Glibc

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
