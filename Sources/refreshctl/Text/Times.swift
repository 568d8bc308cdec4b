@preconcurrency import Glibc
import RefreshAPI

/// A point in time on the calendar and clock of a time zone.
struct CalendarTime {
  /// Days since 1970 on that calendar.
  let day: Int
  private let broken: tm

  /// Makes a calendar time from the result of `localtime_r(3)` or `gmtime_r(3)`.
  init(_ broken: tm) {
    var date = broken
    day = timegm(&date) / 86400
    self.broken = broken
  }

  /// The calendar time of a wall clock, in microseconds, in the time zone of this process (`TZ`, `/etc/localtime`).
  static func local(_ microseconds: Int64) -> CalendarTime {
    var seconds = time_t(microseconds / 1_000_000)
    var broken = tm()
    localtime_r(&seconds, &broken)
    return CalendarTime(broken)
  }

  /// The local midnight at the end of a day, in microseconds of the wall clock (`TZ`, `/etc/localtime`).
  static func endOfDay(_ microseconds: Int64) -> Int64 {
    var seconds = time_t(microseconds / 1_000_000)
    var midnight = tm()
    localtime_r(&seconds, &midnight)
    (midnight.tm_mday, midnight.tm_hour, midnight.tm_min, midnight.tm_sec) = (midnight.tm_mday + 1, 0, 0, 0)
    // The offset of the time zone may change until then.
    midnight.tm_isdst = -1
    return Int64(mktime(&midnight)) * 1_000_000
  }

  /// The date and the time, relative to today: `today 06:02`, `Sat 21 Nov 06:02`, `21 Nov 2025 06:02`.
  func text(today: CalendarTime, seconds: Bool) -> String {
    date(today: today) + " " + clock(seconds: seconds)
  }

  private func date(today: CalendarTime) -> String {
    switch day - today.day {
    case 0: return "today"
    case -1: return "yesterday"
    case 1: return "tomorrow"
    default: break
    }
    let date = "\(broken.tm_mday) \(Self.months[Int(broken.tm_mon)])"
    return broken.tm_year == today.broken.tm_year
      ? "\(Self.weekdays[Int(broken.tm_wday)]) \(date)" : "\(date) \(1900 + Int(broken.tm_year))"
  }

  /// Minutes since midnight on that clock.
  var minuteOfDay: Int { Int(broken.tm_hour) * 60 + Int(broken.tm_min) }

  /// `Sun 22`.
  var weekday: String { "\(Self.weekdays[Int(broken.tm_wday)]) \(broken.tm_mday)" }

  /// `06:02` or `06:02:05`.
  func clock(seconds: Bool) -> String {
    Self.clock(of: [broken.tm_hour, broken.tm_min] + (seconds ? [broken.tm_sec] : []))
  }

  /// Two digits for each part: `06:02` for 6 and 2.
  static func clock(of parts: [some BinaryInteger]) -> String {
    parts.map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
  }

  private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
}

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

// Quiet hours are in the daemon's local time, which may differ from the reader's.

extension Screen {
  /// The quiet hours in the form of the file: `22:00 to 07:00`.
  func text(_ quiet: Wire.QuietHours) -> String {
    "\(time(quiet.fromMinutes)) to \(time(quiet.toMinutes))\(place(of: quiet))"
  }

  /// The end of quiet hours for an app, with the part that spreads the starts of apps.
  func end(of quiet: Wire.QuietHours, at end: Int64) -> String {
    let place = place(of: quiet)
    switch (minute(of: end, in: quiet) - quiet.toMinutes + 1440) % 1440 {
    case 0 where !place.isEmpty: return "\(time(quiet.toMinutes))\(place), \(clock(end)) here"
    case 1..<5: return "\(time(quiet.toMinutes))\(place), for this app \(clock(end)): starts are spread over 5 min"
    default: return clock(end)
    }
  }

  /// Whether a point in time is in quiet hours.
  func isQuiet(_ at: Int64, _ quiet: Wire.QuietHours) -> Bool {
    let minute = minute(of: at, in: quiet)
    return quiet.fromMinutes <= quiet.toMinutes
      ? (quiet.fromMinutes..<quiet.toMinutes).contains(minute)
      : minute >= quiet.fromMinutes || minute < quiet.toMinutes
  }

  private func place(of quiet: Wire.QuietHours) -> String {
    ahead(quiet) == 0 ? "" : " in the daemon's local time"
  }

  /// The minute of the day on the daemon's clock.
  private func minute(of moment: Int64, in quiet: Wire.QuietHours) -> Int {
    ((calendar(moment).minuteOfDay + ahead(quiet)) % 1440 + 1440) % 1440
  }

  /// The offset of the daemon's local time from the reader's, in minutes; 0 if the daemon does not report it.
  private func ahead(_ quiet: Wire.QuietHours) -> Int {
    let local = calendar(now)
    let utc = Int((Double(now) / 60e6).rounded(.down))
    return quiet.eastMinutes.map { $0 - (local.day * 1440 + local.minuteOfDay - utc) } ?? 0
  }
}
