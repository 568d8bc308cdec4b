@preconcurrency import Glibc

/// A point in time on somebody's calendar and clock.
struct CalendarTime {
  /// Days since 1970 by that calendar.
  let day: Int
  private let broken: tm

  /// Takes what `localtime_r(3)` or `gmtime_r(3)` says of a point in time.
  init(_ broken: tm) {
    var date = broken
    day = timegm(&date) / 86400
    self.broken = broken
  }

  /// Microseconds of the wall clock in the time zone of this process (`TZ`, `/etc/localtime`).
  static func local(_ microseconds: Int64) -> CalendarTime {
    var seconds = time_t(microseconds / 1_000_000)
    var broken = tm()
    localtime_r(&seconds, &broken)
    return CalendarTime(broken)
  }

  /// The date and the time as people say them today: `today 06:02`, `Sat 21 Nov 06:02`, `21 Nov 2025 06:02`.
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

  /// Minutes since midnight by that clock.
  var minuteOfDay: Int { Int(broken.tm_hour) * 60 + Int(broken.tm_min) }

  /// `Sun 22`.
  var weekday: String { "\(Self.weekdays[Int(broken.tm_wday)]) \(broken.tm_mday)" }

  /// `06:02` or `06:02:05`.
  func clock(seconds: Bool) -> String {
    let parts = [broken.tm_hour, broken.tm_min] + (seconds ? [broken.tm_sec] : [])
    return parts.map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
  }

  private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
}
