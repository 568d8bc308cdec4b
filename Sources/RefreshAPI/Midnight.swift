import Glibc

/// The end of the day in the local time zone.
public enum Midnight {
  /// The next local midnight after a time, both in microseconds since 1970; the first hour of a day may lack it.
  ///
  /// The zone is the current time zone of this process.
  public static func next(after microseconds: Int64) -> Int64 {
    tzset()
    var seconds = time_t(microseconds / 1_000_000)
    var day = tm()
    localtime_r(&seconds, &day)
    day.tm_mday += 1
    (day.tm_hour, day.tm_min, day.tm_sec, day.tm_isdst) = (0, 0, 0, -1)
    return Int64(mktime(&day)) * 1_000_000
  }
}
