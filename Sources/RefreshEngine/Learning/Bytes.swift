/// Writes numbers as bytes, the least significant first; the store keeps the learners in this form.
struct ByteWriter {
  /// The bytes that were written.
  private(set) var bytes: [UInt8] = []

  mutating func append<Number: FixedWidthInteger>(_ number: Number) {
    withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
  }

  mutating func append(_ number: Float) { append(number.bitPattern) }

  mutating func append(_ number: Double) { append(number.bitPattern) }

  /// Appends non-negative numbers in two bytes each, as 65,535ths of the largest, which comes first.
  mutating func append(scaled numbers: some Collection<Float>) {
    let largest = numbers.max() ?? 0
    append(largest)
    for number in numbers { append(largest > 0 ? UInt16((number / largest * Float(UInt16.max)).rounded()) : 0) }
  }

  /// Appends numbers, without their count.
  mutating func append(_ numbers: some Sequence<Float>) { for number in numbers { append(number) } }
}

/// Reads the bytes of a ``ByteWriter``; a read past the end gives nil, and so does a number that is not finite.
struct ByteReader {
  private var rest: ArraySlice<UInt8>

  /// Reads from the first of the bytes.
  init(_ bytes: [UInt8]) { rest = bytes[...] }

  /// Whether all bytes were read.
  var isAtEnd: Bool { rest.isEmpty }

  /// The next integer.
  mutating func integer<Number: FixedWidthInteger>(_: Number.Type) -> Number? {
    let width = Number.bitWidth / 8
    guard rest.count >= width else { return nil }
    var number: Number = 0
    for (index, byte) in rest.prefix(width).enumerated() { number |= Number(truncatingIfNeeded: byte) << (8 * index) }
    rest = rest.dropFirst(width)
    return number
  }

  /// The next byte, if it is 0 or 1.
  var flag: Bool? {
    mutating get {
      guard let byte = integer(UInt8.self), byte <= 1 else { return nil }
      return byte == 1
    }
  }

  /// The next number, if it is finite and within a range.
  mutating func float(in range: ClosedRange<Float>) -> Float? {
    guard let bits = integer(UInt32.self) else { return nil }
    let number = Float(bitPattern: bits)
    return range.contains(number) ? number : nil
  }

  /// The next number, if it is finite and within a range.
  mutating func double(in range: ClosedRange<Double>) -> Double? {
    guard let bits = integer(UInt64.self) else { return nil }
    let number = Double(bitPattern: bits)
    return range.contains(number) ? number : nil
  }

  /// The next numbers, if all are within a range.
  mutating func floats(_ count: Int, in range: ClosedRange<Float>) -> [Float]? {
    var numbers: [Float] = []
    numbers.reserveCapacity(count)
    for _ in 0..<count {
      guard let number = float(in: range) else { return nil }
      numbers.append(number)
    }
    return numbers
  }

  /// The next integers.
  mutating func integers<Number: FixedWidthInteger>(_ count: Int, _ type: Number.Type) -> [Number]? {
    var numbers: [Number] = []
    numbers.reserveCapacity(count)
    for _ in 0..<count {
      guard let number = integer(type) else { return nil }
      numbers.append(number)
    }
    return numbers
  }

  /// The next numbers that were written as parts of the largest; nil unless the largest is within a range.
  mutating func scaled(_ count: Int, in range: ClosedRange<Float>) -> [Float]? {
    guard let largest = float(in: range), let parts = integers(count, UInt16.self) else { return nil }
    return parts.map { Float($0) / Float(UInt16.max) * largest }
  }
}
