import Glibc

/// Appends JSON to bytes, without white space.
///
/// The caller opens and closes objects and lists in order; the writer adds the commas. Members of a type are written in
/// byte order of their names, so that equal values have equal text.
public struct JSONWriter {
  /// The bytes written so far.
  public var bytes: [UInt8]
  /// Whether the caller wrote a number that JSON cannot hold, such as infinity.
  public private(set) var hasUnwritable = false

  /// Makes a writer that appends to bytes.
  public init(_ bytes: [UInt8] = []) {
    self.bytes = bytes
  }

  // MARK: - Objects and lists

  /// Opens an object.
  @inlinable
  public mutating func beginObject() { bytes.append(UInt8(ascii: "{")) }

  /// Closes an object.
  @inlinable
  public mutating func endObject() { bytes.append(UInt8(ascii: "}")) }

  /// Opens a list.
  @inlinable
  public mutating func beginArray() { bytes.append(UInt8(ascii: "[")) }

  /// Closes a list.
  @inlinable
  public mutating func endArray() { bytes.append(UInt8(ascii: "]")) }

  /// Begins an element of a list.
  @inlinable
  public mutating func nextElement() {
    // No value ends with an open bracket: a string ends with its quote.
    if bytes.last != UInt8(ascii: "[") { bytes.append(UInt8(ascii: ",")) }
  }

  /// Writes the name of the next member, which must need no escapes.
  @inlinable
  public mutating func name(_ name: StaticString) {
    if bytes.last != UInt8(ascii: "{") { bytes.append(UInt8(ascii: ",")) }
    bytes.append(UInt8(ascii: "\""))
    literal(name)
    bytes.append(UInt8(ascii: "\""))
    bytes.append(UInt8(ascii: ":"))
  }

  /// Writes the name of the next member, given in quotes and with its colon.
  @inlinable
  public mutating func key(_ written: StaticString) {
    if bytes.last != UInt8(ascii: "{") { bytes.append(UInt8(ascii: ",")) }
    literal(written)
  }

  /// Writes the name of a member, with escapes.
  public mutating func name(_ name: String) {
    if bytes.last != UInt8(ascii: "{") { bytes.append(UInt8(ascii: ",")) }
    string(name)
    bytes.append(UInt8(ascii: ":"))
  }

  /// Writes a member; writes nothing if the value is nil.
  @inlinable
  public mutating func member(_ name: StaticString, _ value: (some JSONWritable)?) {
    guard let value else { return }
    self.name(name)
    value.write(to: &self)
  }

  // MARK: - Scalars

  /// Writes bytes that are already JSON.
  @inlinable
  public mutating func literal(_ text: StaticString) {
    bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  /// Writes a string.
  public mutating func string(_ text: String) {
    bytes.append(UInt8(ascii: "\""))
    var text = text
    text.withUTF8 { text in
      if Self.isPlain(UnsafeRawBufferPointer(text)) {
        bytes.append(contentsOf: text)
      } else {
        for byte in text { escaped(byte) }
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  /// Whether a text needs no escapes; checks eight bytes at once.
  private static func isPlain(_ text: UnsafeRawBufferPointer) -> Bool {
    let ones: UInt64 = 0x0101_0101_0101_0101
    var index = 0
    while index + 8 <= text.count {
      let word = text.loadUnaligned(fromByteOffset: index, as: UInt64.self)
      // The subtraction sets the highest bit of a byte that is 0, or that is below 0x20 in `word`.
      let quotes = word ^ (ones &* 0x22)
      let slashes = word ^ (ones &* 0x5C)
      let found = ((quotes &- ones) & ~quotes) | ((slashes &- ones) & ~slashes) | ((word &- ones &* 0x20) & ~word)
      if found & (ones &* 0x80) != 0 { return false }
      index += 8
    }
    return text[index...].allSatisfy { $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
  }

  private mutating func escaped(_ byte: UInt8) {
    switch byte {
    case UInt8(ascii: "\""): literal(#"\""#)
    case UInt8(ascii: "\\"): literal(#"\\"#)
    case 0x08: literal(#"\b"#)
    case 0x09: literal(#"\t"#)
    case 0x0A: literal(#"\n"#)
    case 0x0C: literal(#"\f"#)
    case 0x0D: literal(#"\r"#)
    case ..<0x20:
      literal(#"\u00"#)
      for digit in [byte >> 4, byte & 0xF] { bytes.append(digit < 10 ? 0x30 + digit : 0x57 + digit) }
    default: bytes.append(byte)
    }
  }

  /// Writes a whole number.
  public mutating func int64(_ value: Int64) {
    if value < 0 { bytes.append(UInt8(ascii: "-")) }
    var rest = value.magnitude
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
      var start = digits.count
      repeat {
        start -= 1
        let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
        digits[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: digit)
        rest = quotient
      } while rest > 0
      bytes.append(contentsOf: digits[start...])
    }
  }

  /// Writes a number; a whole number without its fraction.
  public mutating func double(_ value: Double) {
    guard value.isFinite else {
      hasUnwritable = true
      return literal("null")
    }
    let text = value.description.utf8
    bytes.append(contentsOf: text.suffix(2).elementsEqual(".0".utf8) ? text.dropLast(2) : text[...])
  }

  /// Removes all bytes after the first `count`.
  public mutating func truncate(to count: Int) {
    bytes.removeSubrange(count...)
    hasUnwritable = false
  }
}
