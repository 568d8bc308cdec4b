/// The minimum time between two refreshes of an app in the background.
public enum RefreshInterval: Hashable, Sendable {
  /// As often as the daemon's configuration allows: its `background_floor`, 15 min by default.
  case minimum
  /// Never in the background.
  case never
  /// At least this long after the last start; fractions of a microsecond are dropped.
  case atLeast(Duration)

  /// At least this many seconds after the last start.
  public static func seconds(_ seconds: some BinaryInteger) -> RefreshInterval { .atLeast(.seconds(seconds)) }

  /// At least this many minutes after the last start.
  public static func minutes(_ minutes: some BinaryInteger) -> RefreshInterval { .atLeast(.seconds(60) * minutes) }

  /// At least this many hours after the last start.
  public static func hours(_ hours: some BinaryInteger) -> RefreshInterval { .atLeast(.seconds(3600) * hours) }

  /// The interval in the form that the daemon reads.
  var text: String {
    switch self {
    case .minimum: "minimum"
    case .never: "never"
    case .atLeast(let duration): "\(duration.microseconds)us"
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
