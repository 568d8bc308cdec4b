extension Learned {
  /// The first byte of what is stored: the version of the layout.
  private static let version: UInt8 = 2

  /// What the store keeps.
  public var encoded: [UInt8] {
    var writer = ByteWriter()
    writer.append(Self.version)
    writer.append(UInt8(day == nil ? 0 : 1))
    writer.append(day ?? 0)
    for block in 0..<8 { writer.append(newData.updates[block]) }
    for block in 0..<8 { writer.append(newData.watched[block]) }
    writer.append(use.openings)
    writer.append(use.days[0])
    writer.append(use.days[1])
    writer.append(UInt8(expense.isKnown ? 1 : 0))
    for index in 0..<3 { writer.append(expense.means[index]) }
    writer.append(future.scaled.scale)
    for step in future.scaled.steps { writer.append(step) }
    writer.append(future.rise)
    return writer.bytes
  }

  /// Reads what was stored; nil if it is of another version, too short or long, or holds a number that cannot be.
  public init?(encoded: [UInt8]) {
    self.init()
    var reader = ByteReader(encoded)
    let counts: ClosedRange<Float> = 0...1e9
    let any: ClosedRange<Float> = -1e9...1e9
    guard reader.integer(UInt8.self) == Self.version, let hasDay = reader.integer(UInt8.self), hasDay <= 1,
      let day = reader.integer(Int32.self), let updates = reader.floats(8, in: counts),
      let watched = reader.floats(8, in: counts), let openings = reader.floats(use.openings.count, in: counts),
      let week = reader.float(in: counts), let weekend = reader.float(in: counts),
      let isKnown = reader.integer(UInt8.self), isKnown <= 1, let means = reader.floats(3, in: counts),
      let expense = Expense(means: SIMD3(means), isKnown: isKnown == 1),
      let scale = reader.float(in: counts), let steps = reader.integers(future.costs.count, UInt16.self),
      let rise = reader.float(in: any), reader.isAtEnd
    else { return nil }
    self.day = hasDay == 1 ? day : nil
    newData.updates = SIMD8(updates)
    newData.watched = SIMD8(watched)
    use.openings = openings
    use.days = SIMD2(week, weekend)
    self.expense = expense
    future = Future(scale: scale, steps: steps, rise: rise)
  }
}
