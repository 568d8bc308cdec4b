/// How fast bytes may go: each is paid for with time, and nothing goes while there is a debt.
///
/// libcurl has a limit of its own, which looks at it once a second: a fast server is done by then.
struct Pace: Hashable, Sendable {
  typealias Instant = ContinuousClock.Instant

  /// Bytes a second; nil for as fast as they come.
  var rate: Int64?
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

  /// So many bytes go.
  mutating func take(_ count: Int, at now: Instant) {
    guard let rate, rate > 0 else { return }
    paidAt = max(paidAt ?? now, now - Self.slack) + .seconds(count) / rate
  }
}
