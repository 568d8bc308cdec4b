/// A moment of local time, in the time zone in force, as one running number.
///
/// The learners count in it: openings come at times of the day, and a day begins at local midnight. The number jumps when
/// the zone changes its offset.
public struct LocalTime: Hashable, Comparable, Sendable {
  /// Minutes of a day.
  static let minutesOfDay = 1440.0

  /// Minutes since Monday, 29 December 1969, at midnight.
  public var minutes: Double

  /// Makes a moment from minutes since that Monday.
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
