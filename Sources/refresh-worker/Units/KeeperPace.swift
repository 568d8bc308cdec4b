/// The pace at which a unit is stopped that something else starts again and again.
struct KeeperPace {
  private static let span: Int64 = 60_000_000
  private static let most = 5

  /// The last times, in microseconds of the boot clock, at most ``most``.
  private var times: [Int64] = []

  /// How long to wait before the unit is stopped again, in microseconds; nil for not at all.
  func wait(at now: Int64) -> Int64? {
    guard times.count == Self.most, let first = times.first, now < first + Self.span else { return nil }
    return first + Self.span - now
  }

  /// Notes that the unit is stopped.
  mutating func note(at now: Int64) { times = (times + [now]).suffix(Self.most) }
}
