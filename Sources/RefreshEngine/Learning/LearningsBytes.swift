extension Learnings {
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
      let weights = reader.floats(Explanations.count, in: 0...1), weights.reduce(0, +) > 0.5,
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
