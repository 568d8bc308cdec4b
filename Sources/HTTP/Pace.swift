/// How fast bytes may go: each is paid for with time, and nothing goes while there is a debt.
///
/// libcurl has a limit of its own, which looks at it once a second: a fast server is done by then.
struct Pace: Hashable, Sendable {
  typealias Instant = ContinuousClock.Instant

  /// Bytes a second; nil for as fast as they come.
  private(set) var rate: Int64?
  /// When all that went is paid for.
  private var paidAt: Instant?
  /// So much time may be made up for, so that rounding to the milliseconds of a poll(2) costs no speed.
  private static let slack = Duration.milliseconds(50)

  init(rate: Int64?) { self.rate = rate }

  /// When bytes may go again; nil for at once.
  func opens(after now: Instant) -> Instant? {
    guard rate != nil, let paidAt, paidAt > now else { return nil }
    return paidAt
  }

  /// From now on so many bytes a second go, and what is owed is paid for at that rate.
  mutating func change(to rate: Int64?, at now: Instant) {
    if let old = self.rate, let rate, rate > 0, let paidAt, paidAt > now {
      self.paidAt = now + now.duration(to: paidAt) * (Double(old) / Double(rate))
    }
    self.rate = rate
  }

  /// How many of so many bytes may go at once: no more than for a quarter of a second, so that they go evenly.
  func portion(of count: Int) -> Int {
    guard let rate else { return count }
    return min(count, Int(clamping: max(rate / 4, 1)))
  }

  /// So many bytes go.
  mutating func take(_ count: Int, at now: Instant) {
    guard let rate, rate > 0 else { return }
    paidAt = max(paidAt ?? now, now - Self.slack) + .seconds(count) / rate
  }
}
