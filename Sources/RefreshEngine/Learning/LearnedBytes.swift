extension Learned {
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

  /// Reads the log of openings and the weights of the explanations.
  private static func fineUse(_ reader: inout ByteReader) -> (OpeningLog, Numbers<17, Float16>)? {
    guard let hasDay = reader.flag, let day = reader.integer(Int32.self), let count = reader.integer(UInt8.self),
      let bytes = reader.integers(Int(count), UInt8.self),
      let log = OpeningLog(bytes: bytes, day: hasDay ? day : nil),
      let bits = reader.integers(Explanations.count + Repeats.strengths.count, UInt16.self)
    else { return nil }
    let weights = bits.map { Float16(bitPattern: $0) }
    // NaN is not within the range.
    guard weights.allSatisfy({ (0...1.01).contains($0) }) else { return nil }
    // Each group sums to one; all are zero before the first day has ended.
    let groups = [weights.prefix(Explanations.count), weights.suffix(Repeats.strengths.count)]
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
