/// A fixed count of numbers, stored in the value itself: for each of 100,000 apps an array would be a separate piece of
/// memory with a head of 40 bytes.
struct Numbers<let count: Int, Number: Numeric & Hashable & Sendable>: Sendable {
  private var numbers = InlineArray<count, Number>(repeating: .zero)

  /// Makes zeros.
  init() {}

  /// Takes the numbers of an array: missing numbers are zero, further numbers are left out.
  init(_ array: [Number]) {
    for (index, number) in array.prefix(count).enumerated() { numbers[index] = number }
  }
}

extension Numbers: RandomAccessCollection, MutableCollection {
  var startIndex: Int { 0 }
  var endIndex: Int { count }

  subscript(index: Int) -> Number {
    get { numbers[index] }
    set { numbers[index] = newValue }
  }
}

extension Numbers: Hashable {
  static func == (left: Numbers, right: Numbers) -> Bool { left.elementsEqual(right) }

  func hash(into hasher: inout Hasher) { for number in self { hasher.combine(number) } }
}

/// A fixed count of numbers from 0 to 65,535, rounded to multiples of 16, the last to 65,520: two take three bytes.
struct RoundedNumbers<let byteCount: Int>: Hashable, Sendable {
  private var bytes = Numbers<byteCount, UInt8>()

  /// Makes zeros.
  init() {}

  /// Takes the numbers of an array: missing numbers are zero, further numbers are left out.
  init(_ array: [UInt16]) {
    for (index, number) in array.prefix(count).enumerated() {
      let sixteenths = (Int(number) + 8) / 16
      let kept = Swift.min(sixteenths, 4095) << (index.isMultiple(of: 2) ? 0 : 4)
      let byte = index * 3 / 2
      bytes[byte] |= UInt8(kept & 0xFF)
      bytes[byte + 1] |= UInt8(kept >> 8)
    }
  }
}

extension RoundedNumbers: RandomAccessCollection {
  var startIndex: Int { 0 }
  var endIndex: Int { byteCount * 2 / 3 }

  subscript(index: Int) -> UInt16 {
    let byte = index * 3 / 2
    let pair = UInt16(bytes[byte]) | UInt16(bytes[byte + 1]) << 8
    return index.isMultiple(of: 2) ? pair << 4 : pair & 0xFFF0
  }
}

/// Keeps a vector as plain numbers.
///
/// A vector would align the value that holds it to 16 or 32 bytes, and each of 100,000 apps would pay for the gaps.
@propertyWrapper
struct PackedVector<let count: Int, Vector: SIMD<Float>>: Hashable, Sendable {
  private var numbers = Numbers<count, Float>()

  var wrappedValue: Vector {
    get {
      var vector = Vector()
      for index in 0..<count { vector[index] = numbers[index] }
      return vector
    }
    set { for index in 0..<count { numbers[index] = newValue[index] } }
  }

  init(wrappedValue: Vector) {
    precondition(count == Vector.scalarCount, "a packed vector keeps each of its numbers")
    self.wrappedValue = wrappedValue
  }
}
