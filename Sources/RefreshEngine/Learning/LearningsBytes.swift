extension Learnings {
  /// The first byte of what is stored: the version of the layout.
  private static let version: UInt8 = 1

  /// The bytes that the store keeps: everything but the budget, which the configuration gives, and a night under way.
  public var encoded: [UInt8] {
    var writer = ByteWriter()
    writer.append(Self.version)
    writer.append(nights)
    writer.append(price)
    writer.append(typicalRate)
    writer.append(pool)
    for index in 0..<3 { writer.append(typicalCost[index]) }
    writer.append(spending.refreshes)
    writer.append(spending.runSeconds)
    writer.append(spending.meteredBytes)
    return writer.bytes
  }

  /// Reads what was stored; nil if it is of another version, too short or long, or holds a number that cannot be.
  public init?(encoded: [UInt8], budget: Budget) {
    self.init(budget: budget)
    var reader = ByteReader(encoded)
    guard reader.integer(UInt8.self) == Self.version, let nights = reader.integer(UInt32.self),
      let price = reader.double(in: Price.least...Price.most), let rate = reader.double(in: 1e-9...1e3),
      let pool = reader.floats(pool.count, in: 0...1), let typical = reader.floats(3, in: 0...1e12),
      let refreshes = reader.integer(UInt32.self), let runSeconds = reader.double(in: 0...1e15),
      let meteredBytes = reader.double(in: 0...1e18), reader.isAtEnd
    else { return nil }
    self.nights = nights
    self.price = price
    typicalRate = rate
    self.pool = pool
    typicalCost = SIMD3(typical)
    spending = Spending(refreshes: refreshes, runSeconds: runSeconds, meteredBytes: meteredBytes)
  }
}
