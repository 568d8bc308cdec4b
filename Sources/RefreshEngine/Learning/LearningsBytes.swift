extension Learnings {
  /// The first byte of what is stored: the version of the layout.
  private static let version: UInt8 = 2

  /// The bytes that the store keeps: everything but the budget, which the configuration gives, and a night under way.
  public var encoded: [UInt8] {
    var writer = ByteWriter()
    writer.append(Self.version)
    writer.append(scarcity)
    writer.append(sharers)
    writer.append(typicalRate)
    writer.append(pool)
    for index in 0..<3 { writer.append(typicalCost[index]) }
    return writer.bytes
  }

  /// Reads what was stored; nil if it is of another version, too short or long, or holds a number that cannot be.
  public init?(encoded: [UInt8], budget: Budget) {
    self.init(budget: budget)
    var reader = ByteReader(encoded)
    guard let version = reader.integer(UInt8.self), (1...Self.version).contains(version) else { return nil }
    // Version 1 had a price that was steered, and what was spent, in place of the scarcity.
    let isFirst = version == 1
    if isFirst {
      guard reader.integer(UInt32.self) != nil, reader.double(in: 0...1e9) != nil else { return nil }
    } else {
      guard let scarcity = reader.float(in: 1...Price.mostFactor), let sharers = reader.integer(UInt32.self)
      else { return nil }
      (self.scarcity, self.sharers) = (scarcity, sharers)
    }
    guard let rate = reader.double(in: 1e-9...1e3), let pool = reader.floats(pool.count, in: 0...1),
      let typical = reader.floats(3, in: 0...1e12)
    else { return nil }
    if isFirst {
      guard reader.integer(UInt32.self) != nil, reader.double(in: 0...1e15) != nil, reader.double(in: 0...1e18) != nil
      else { return nil }
    }
    guard reader.isAtEnd else { return nil }
    typicalRate = rate
    self.pool = pool
    typicalCost = SIMD3(typical)
  }
}
