@preconcurrency import Glibc

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
