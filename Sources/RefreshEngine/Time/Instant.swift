/// A point in time on the machine's boot clock.
///
/// Microseconds of `CLOCK_BOOTTIME` (`clock_gettime(2)`), which counts suspend and never steps, so that the engine has one
/// timeline. After a reboot the store turns a wall time before the boot into a negative instant. Wall time exists only at
/// the edges.
public struct Instant: InstantProtocol, Hashable, Sendable {
  /// Microseconds since boot, boot clock; negative before it.
  public var microseconds: Int64

  /// Makes an instant from microseconds of the boot clock.
  public init(microseconds: Int64) {
    self.microseconds = microseconds
  }

  /// The instant that is `duration` later, to the microsecond.
  public func advanced(by duration: Duration) -> Instant {
    Instant(microseconds: microseconds + duration.inMicroseconds)
  }

  /// The time from this instant to `other`; negative when `other` is earlier.
  public func duration(to other: Instant) -> Duration {
    .microseconds(other.microseconds - microseconds)
  }

  /// The instant that is `duration` later.
  public static func + (instant: Instant, duration: Duration) -> Instant { instant.advanced(by: duration) }

  /// The instant that is `duration` earlier.
  public static func - (instant: Instant, duration: Duration) -> Instant { instant.advanced(by: .zero - duration) }

  /// Whether the left instant is earlier.
  public static func < (left: Instant, right: Instant) -> Bool {
    left.microseconds < right.microseconds
  }
}

extension Duration {
  /// The duration in whole microseconds, rounded toward zero.
  public var inMicroseconds: Int64 {
    let (seconds, attoseconds) = components
    return seconds * 1_000_000 + attoseconds / 1_000_000_000_000
  }

  /// The duration times a count, to the microsecond.
  ///
  /// The standard library's operator uses generic arithmetic of 128 bits and takes twenty times as long.
  func times(_ count: Int64) -> Duration { .microseconds(inMicroseconds * count) }

  /// An equal part of the duration, rounded to whole microseconds toward zero; see ``times(_:)``.
  func part(of count: Int64) -> Duration { .microseconds(inMicroseconds / count) }

  /// A duration of whole minutes.
  public static func minutes(_ minutes: Int64) -> Duration { .seconds(minutes * 60) }

  /// A duration of whole hours.
  public static func hours(_ hours: Int64) -> Duration { .seconds(hours * 3600) }
}

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

extension RandomAccessCollection where Index == Int {
  /// The first index from which on every element meets a condition; the end if none does.
  ///
  /// A binary search: the elements that meet the condition must all come after those that do not.
  @inlinable
  public func partitioningIndex(where meets: (Element) -> Bool) -> Int {
    var range = startIndex..<endIndex
    while !range.isEmpty {
      let middle = range.lowerBound + range.count / 2
      range = meets(self[middle]) ? range.lowerBound..<middle : middle + 1..<range.upperBound
    }
    return range.lowerBound
  }
}
