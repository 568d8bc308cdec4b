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
