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
    guard let version = reader.integer(UInt8.self), (1...Self.version).contains(version) else { return nil }
    // Version 1 had a controlled price and the spending in place of the scarcity.
    let isFirst = version == 1
    if isFirst {
      guard reader.integer(UInt32.self) != nil, reader.double(in: 0...1e9) != nil else { return nil }
    } else {
      guard let scarcity = reader.float(in: 1...Price.mostFactor), let sharers = reader.integer(UInt32.self)
      else { return nil }
      (self.scarcity, self.sharers) = (scarcity, sharers)
    }
    guard let rate = reader.double(in: 1e-9...1e3), let pool = reader.floats(use.pool.count, in: 0...1),
      let typical = reader.floats(3, in: 0...1e12)
    else { return nil }
    if isFirst {
      guard reader.integer(UInt32.self) != nil, reader.double(in: 0...1e15) != nil, reader.double(in: 0...1e18) != nil
      else { return nil }
    }
    use.pool = pool
    // Versions 1 and 2 shared only the pool.
    if version == Self.version {
      guard let shapes = reader.floats(use.patterns.shapes.count, in: Patterns.range),
        let chances = reader.floats(use.patterns.chances.count, in: Patterns.range),
        let weights = reader.floats(Explanations.count, in: 0...1), weights.reduce(0, +) > 0.5,
        let offset = reader.integer(Int32.self)
      else { return nil }
      // Before the first night the pool has not cut the patterns into parts.
      if shapes != use.patterns.shapes { use.patterns = Patterns(stored: shapes, chances: chances, pool: pool) }
      use.weights = weights
      zoneOffset = offset == .min ? nil : offset
    }
    guard reader.isAtEnd else { return nil }
    typicalRate = rate
    typicalCost = SIMD3(typical)
  }
}
