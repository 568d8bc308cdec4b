/// When an app is refreshed by time in the background.
public enum RefreshInterval: Hashable, Sendable {
  /// As often as it pays, as the daemon has learnt, and the daemon's `background_floor` allows, 15 min by default.
  case auto
  /// Never in the background.
  case never
  /// At fixed distances; fractions of a microsecond are dropped.
  case every(Duration)

  /// Every so many seconds.
  public static func seconds(_ seconds: some BinaryInteger) -> RefreshInterval { .every(.seconds(seconds)) }

  /// Every so many minutes.
  public static func minutes(_ minutes: some BinaryInteger) -> RefreshInterval { .every(.seconds(60) * minutes) }

  /// Every so many hours.
  public static func hours(_ hours: some BinaryInteger) -> RefreshInterval { .every(.seconds(3600) * hours) }

  /// The interval in the form that the daemon reads.
  var text: String {
    switch self {
    case .auto: "auto"
    case .never: "never"
    case .every(let duration): "\(duration.microseconds)us"
    }
  }
}

extension Duration {
  /// The duration in whole microseconds, clamped to about 292,000 years.
  var microseconds: Int64 {
    let (seconds, attoseconds) = components
    let (whole, isTooLong) = seconds.multipliedReportingOverflow(by: 1_000_000)
    if isTooLong { return seconds < 0 ? .min : .max }
    let (sum, isOver) = whole.addingReportingOverflow(attoseconds / 1_000_000_000_000)
    return isOver ? (seconds < 0 ? .min : .max) : sum
  }
}
