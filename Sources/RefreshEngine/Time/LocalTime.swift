/// A moment on the clock on the wall, in the time zone in force, as one running number.
///
/// The learners count in it: openings come at times of the day, and a day begins at midnight where the user is. Where
/// the zone changes its offset it jumps, as the clock on the wall does.
public struct LocalTime: Hashable, Comparable, Sendable {
  /// Minutes of a day.
  static let minutesOfDay = 1440.0

  /// Minutes since a Monday at midnight: that before 1 January 1970, a Thursday.
  public var minutes: Double

  /// Makes a moment of minutes since that Monday.
  public init(minutes: Double) { self.minutes = minutes }

  /// Whole days since that Monday.
  public var day: Int { Int((minutes / Self.minutesOfDay).rounded(.down)) }

  /// Minutes since midnight: zero or more, less than 1,440.
  public var minuteOfDay: Double { minutes - Double(day) * Self.minutesOfDay }

  /// Whether a day is a Saturday or a Sunday; `day` counts as ``day`` does.
  public static func isWeekend(day: Int) -> Bool { weekday(ofDay: day) >= 5 }

  /// The day of the week of a day: 0 for Monday to 6 for Sunday.
  static func weekday(ofDay day: Int) -> Int { ((day % 7) + 7) % 7 }

  /// Order of time.
  public static func < (left: LocalTime, right: LocalTime) -> Bool { left.minutes < right.minutes }
}
