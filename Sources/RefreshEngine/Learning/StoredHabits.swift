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

extension AppHabits {
  /// The first byte of the stored form: the version of the layout.
  private static let version: UInt8 = 5

  /// The bytes that the store keeps.
  public var encoded: [UInt8] {
    var writer = ByteWriter()
    writer.append(Self.version)
    writer.append(UInt8(day == nil ? 0 : 1))
    writer.append(day ?? 0)
    writer.append(UInt8(newData.belief.isEmpty ? 0 : 1))
    if newData.belief.isEmpty {
      writer.append(Float(0))
    } else {
      writer.append(scaled: newData.belief.chances.map { Float($0) })
    }
    for block in 0..<8 { writer.append(newData.updates[block]) }
    for block in 0..<8 { writer.append(newData.expected[block]) }
    writer.append(scaled: use.openings.map { Float($0) })
    writer.append(use.days[0])
    writer.append(use.days[1])
    writer.append(UInt8(use.log.day == nil ? 0 : 1))
    writer.append(use.log.day ?? 0)
    writer.append(use.log.count)
    for byte in use.log.bytes.prefix(Int(use.log.count)) { writer.append(byte) }
    for weight in use.weights { writer.append(weight.bitPattern) }
    writer.append(UInt8(measuredCost.isKnown ? 1 : 0))
    for index in 0..<3 { writer.append(measuredCost.means[index]) }
    writer.append(future.step)
    for cost in future.costs { writer.append(cost) }
    writer.append(future.rise)
    for number in [spending.today, spending.mean, spending.factor] { writer.append(number) }
    return writer.bytes
  }

  /// Reads the stored form; nil if it has another version or a wrong length, or holds an impossible number.
  public init?(encoded: [UInt8]) {
    self.init()
    var reader = ByteReader(encoded)
    let counts: ClosedRange<Float> = 0...1e9
    guard let version = reader.integer(UInt8.self), version == Self.version,
      let hasDay = reader.flag, let day = reader.integer(Int32.self),
      let hasBelief = reader.flag, let chances = reader.scaled(hasBelief ? RateBelief.rates.count : 0, in: 0...1),
      let updates = reader.floats(8, in: counts), let expected = reader.floats(8, in: counts),
      let openings = reader.scaled(use.openings.count, in: counts),
      let week = reader.float(in: counts), let weekend = reader.float(in: counts),
      let (log, weights) = Self.fineUse(&reader),
      let isKnown = reader.flag, let means = reader.floats(3, in: counts),
      let cost = Cost(means: SIMD3(means), isKnown: isKnown), let step = reader.float(in: counts),
      let costs = reader.integers(future.costs.count, UInt16.self), let rise = reader.float(in: -1e9...1e9),
      let spending = Spending(&reader), reader.isAtEnd
    else { return nil }
    self.day = hasDay ? day : nil
    newData.belief.chances = Numbers(chances.map { Float16($0) })
    newData.updates = SIMD8(updates)
    newData.expected = SIMD8(expected)
    use.openings = Numbers(openings.map { Float16(min($0, 60_000)) })
    (use.log, use.weights) = (log, weights)
    use.days = SIMD2(week, weekend)
    measuredCost = cost
    self.spending = spending
    (future.costs, future.step, future.rise) = (Future.rounded(costs), step, rise)
  }

  /// Reads the log of openings and the weights of the models.
  private static func fineUse(_ reader: inout ByteReader) -> (OpeningLog, Numbers<17, Float16>)? {
    guard let hasDay = reader.flag, let day = reader.integer(Int32.self), let count = reader.integer(UInt8.self),
      let bytes = reader.integers(Int(count), UInt8.self),
      let log = OpeningLog(bytes: bytes, day: hasDay ? day : nil),
      let bits = reader.integers(HabitModels.count + Repeats.strengths.count, UInt16.self)
    else { return nil }
    let weights = bits.map { Float16(bitPattern: $0) }
    // NaN is not within the range.
    guard weights.allSatisfy({ (0...1.01).contains($0) }) else { return nil }
    // Each group sums to one; all are zero before the first day has ended.
    let groups = [weights.prefix(HabitModels.count), weights.suffix(Repeats.strengths.count)]
    let empty = groups.count { group in group.allSatisfy { $0 == 0 } }
    guard empty == 0 || empty == groups.count else { return nil }
    return (log, Numbers(weights))
  }
}

extension Spending {
  /// Reads the stored form; nil if it holds an impossible number.
  fileprivate init?(_ reader: inout ByteReader) {
    guard let taken = reader.floats(2, in: 0...1e9), let factor = reader.float(in: 1...Price.mostFactor) else {
      return nil
    }
    self.init(today: taken[0], mean: taken[1], factor: factor)
  }
}

extension DeviceHabits {
  /// The first byte of the stored form: the version of the layout.
  private static let version: UInt8 = 3

  /// The bytes that the store keeps: everything but the budget, which the configuration gives, and the present night.
  public var encoded: [UInt8] {
    var writer = ByteWriter()
    writer.append(Self.version)
    writer.append(scarcity)
    writer.append(sharers)
    writer.append(typicalRate)
    writer.append(use.pool)
    for index in 0..<3 { writer.append(typicalCost[index]) }
    writer.append(use.patterns.shapes)
    writer.append(use.patterns.chances)
    writer.append(use.weights)
    writer.append(zoneOffset ?? .min)
    return writer.bytes
  }

  /// Reads the stored form; nil if it has another version or a wrong length, or holds an impossible number.
  public init?(encoded: [UInt8], budget: Budget) {
    self.init(budget: budget)
    var reader = ByteReader(encoded)
    guard let version = reader.integer(UInt8.self), version == Self.version,
      let scarcity = reader.float(in: 1...Price.mostFactor), let sharers = reader.integer(UInt32.self),
      let rate = reader.double(in: 1e-9...1e3), let pool = reader.floats(use.pool.count, in: 0...1),
      let typical = reader.floats(3, in: 0...1e12),
      let shapes = reader.floats(use.patterns.shapes.count, in: Patterns.range),
      let chances = reader.floats(use.patterns.chances.count, in: Patterns.range),
      let weights = reader.floats(HabitModels.count, in: 0...1), weights.reduce(0, +) > 0.5,
      let offset = reader.integer(Int32.self), reader.isAtEnd
    else { return nil }
    (self.scarcity, self.sharers) = (scarcity, sharers)
    typicalRate = rate
    typicalCost = SIMD3(typical)
    use.pool = pool
    // Before the first night the pool has not cut the patterns into parts.
    if shapes != use.patterns.shapes { use.patterns = Patterns(stored: shapes, chances: chances, pool: pool) }
    use.weights = weights
    zoneOffset = offset == .min ? nil : offset
  }
}
