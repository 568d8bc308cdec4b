/// The least time between two refreshes of an app in the background.
///
/// DESIGN section 4, "Intervals and phases".
public enum RefreshInterval: Hashable, Sendable {
  /// As often as the daemon's configuration allows: its `background_floor`, 15 min by default.
  case minimum
  /// Not in the background at all.
  case never
  /// At least so long after the last start; parts of a microsecond are dropped.
  case atLeast(Duration)

  /// At least so many seconds after the last start.
  public static func seconds(_ seconds: some BinaryInteger) -> RefreshInterval { .atLeast(.seconds(seconds)) }

  /// At least so many minutes after the last start.
  public static func minutes(_ minutes: some BinaryInteger) -> RefreshInterval { .atLeast(.seconds(60) * minutes) }

  /// At least so many hours after the last start.
  public static func hours(_ hours: some BinaryInteger) -> RefreshInterval { .atLeast(.seconds(3600) * hours) }

  /// As the daemon reads it.
  var text: String {
    switch self {
    case .minimum: "minimum"
    case .never: "never"
    case .atLeast(let duration): "\(duration.microseconds)us"
    }
  }
}

extension Duration {
  /// Whole microseconds; the nearest that there are for what is longer than 292,000 years.
  var microseconds: Int64 {
    let (seconds, attoseconds) = components
    let (whole, isTooLong) = seconds.multipliedReportingOverflow(by: 1_000_000)
    if isTooLong { return seconds < 0 ? .min : .max }
    let (sum, isOver) = whole.addingReportingOverflow(attoseconds / 1_000_000_000_000)
    return isOver ? (seconds < 0 ? .min : .max) : sum
  }
}
