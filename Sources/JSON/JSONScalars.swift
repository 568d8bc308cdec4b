import Glibc

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

  /// Skips digits; returns false if there is none.
  private mutating func digits() -> Bool {
    let start = position
    while let byte = next, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { position += 1 }
    return position > start
  }
}
