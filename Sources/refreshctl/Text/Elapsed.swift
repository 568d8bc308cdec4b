/// Spans of time for people.
enum Elapsed {
  /// A measured duration: `350 ms`, `1.8 s`, `12 s`, `2 min 5 s`, `1 h 3 min`.
  static func measured(_ microseconds: Int64) -> String {
    let milliseconds = (microseconds + 500) / 1000
    if milliseconds < 1000 { return "\(milliseconds) ms" }
    let tenths = (milliseconds + 50) / 100
    if tenths < 100 { return "\(tenths / 10).\(tenths % 10) s" }
    let seconds = (milliseconds + 500) / 1000
    if seconds < 60 { return "\(seconds) s" }
    if seconds < 3600 { return two(seconds / 60, "min", seconds % 60, "s") }
    let minutes = (seconds + 30) / 60
    return two(minutes / 60, "h", minutes % 60, "min")
  }

  /// A distance from now, rounded to the units that matter: `12 s`, `12 min`, `2 h 12 min`, `3 d 4 h`, `34 d`.
  ///
  /// A `brief` text for a narrow column has a single unit if that is nearly exact: `5 h` for 5 h 10 min, but not `2 h`
  /// for 1 h 40 min.
  static func rough(_ microseconds: Int64, brief: Bool = false) -> String {
    let seconds = (microseconds + 500_000) / 1_000_000
    if seconds < 60 { return "\(seconds) s" }
    let minutes = (seconds + 30) / 60
    if minutes < 60 { return "\(minutes) min" }
    let hours = (minutes + 30) / 60
    if hours < 24 {
      return brief && isNear(hours * 60, minutes) ? "\(hours) h" : two(minutes / 60, "h", minutes % 60, "min")
    }
    let days = (hours + 12) / 24
    return brief && isNear(days * 24, hours) || days > 30 ? "\(days) d" : two(hours / 24, "d", hours % 24, "h")
  }

  /// Whether rounding changes an amount by less than a twentieth.
  private static func isNear(_ rounded: Int64, _ amount: Int64) -> Bool { abs(rounded - amount) * 20 < amount }

  /// A span of whole hours, above two days in days: `1 h`, `24 h`, `7 d`.
  static func stretch(_ microseconds: Int64) -> String {
    microseconds > 48 * 3_600_000_000 ? rough(microseconds) : measured(microseconds)
  }

  private static func two(_ large: Int64, _ largeUnit: String, _ small: Int64, _ smallUnit: String) -> String {
    small == 0 ? "\(large) \(largeUnit)" : "\(large) \(largeUnit) \(small) \(smallUnit)"
  }
}
