/// A rate limit: each byte costs time, and no byte may pass before the earlier ones are paid.
///
/// libcurl's own limit checks the rate once a second, and a fast server has sent all of a small file by then.
struct Pace: Hashable, Sendable {
  /// The rate in bytes a second; nil for no limit.
  private(set) var rate: Int64?
  /// When the bytes so far are paid.
  private var paidAt: ContinuousClock.Instant?
  /// The unused time that may be made up for, because poll(2) wakes on whole milliseconds only.
  private static let slack = Duration.milliseconds(50)

  init(rate: Int64?) { self.rate = rate }

  /// When the next bytes may pass; nil for at once.
  func opens(after now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
    guard rate != nil, let paidAt, paidAt > now else { return nil }
    return paidAt
  }

  /// Changes the rate; the remaining debt is paid at the new rate.
  mutating func change(to rate: Int64?, at now: ContinuousClock.Instant) {
    if let old = self.rate, let rate, rate > 0, let paidAt, paidAt > now {
      self.paidAt = now + now.duration(to: paidAt) * (Double(old) / Double(rate))
    }
    self.rate = rate
  }

  /// How many of `count` bytes may pass at once: at most a quarter of a second's, so that they pass evenly.
  func portion(of count: Int) -> Int {
    guard let rate else { return count }
    return min(count, Int(clamping: max(rate / 4, 1)))
  }

  /// Lets `count` bytes pass and charges their time.
  mutating func consume(_ count: Int, at now: ContinuousClock.Instant) {
    guard let rate, rate > 0 else { return }
    paidAt = max(paidAt ?? now, now - Self.slack) + .seconds(count) / rate
  }
}
