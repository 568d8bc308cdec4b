/// Limits how often a unit is stopped that another program starts repeatedly.
struct KeeperPace {
  private static let span: Int64 = 60_000_000
  private static let most = 5

  /// The times of the last stops, in microseconds of the boot clock, at most ``most``.
  private var times: [Int64] = []

  /// The wait before the next stop, in microseconds; nil for none.
  func wait(at now: Int64) -> Int64? {
    guard times.count == Self.most, let first = times.first, now < first + Self.span else { return nil }
    return first + Self.span - now
  }

  /// Notes a stop of the unit.
  mutating func note(at now: Int64) { times = (times + [now]).suffix(Self.most) }
}
