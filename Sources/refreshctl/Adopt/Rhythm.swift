/// The rhythm of a timer, computed from a list of its times.
struct Rhythm: Hashable {
  /// The shortest time between two consecutive times, in seconds.
  let interval: Int64
  /// Whether the distances between times differ.
  let isIrregular: Bool
  /// The hours without a time although other hours often have one, in minutes of the day.
  let quiet: (from: Int64, to: Int64)?
  /// Whether the timer elapses only on some days of the week.
  let hasWeekdays: Bool

  private static let day: Int64 = 86400

  /// Reads the times of one or several expressions, each list in order, in seconds; nil if there are not two times.
  init?(_ lists: [[Int64]]) {
    // After the end of the shortest list, the other lists would count alone.
    let full = lists.filter { $0.count > 1 }
    guard let end = full.compactMap(\.last).min() else { return nil }
    let times = Set(lists.joined()).filter { $0 <= end }.sorted()
    let gaps = zip(times, times.dropFirst()).map { $1 - $0 }
    guard let least = gaps.min(), let most = gaps.max() else { return nil }
    interval = least
    isIrregular = most > least
    let weekdays = Set(times.map { $0 / Self.day % 7 })
    hasWeekdays = end - times[0] >= 14 * Self.day && weekdays.count < 7 && least < 28 * Self.day
    quiet = Self.quiet(times, interval: least)
  }

  private static func quiet(_ times: [Int64], interval: Int64) -> (from: Int64, to: Int64)? {
    guard interval < day / 2, let first = times.first, let last = times.last, last - first >= 2 * day else {
      return nil
    }
    let minutes = Set(times.map { $0 % day / 60 }).sorted()
    guard let earliest = minutes.first else { return nil }
    let holes = zip(minutes, minutes.dropFirst() + [earliest + 1440]).map { (from: $0, length: $1 - $0) }
    guard let hole = holes.max(by: { $0.length < $1.length }), hole.length * 60 >= 2 * interval else { return nil }
    return ((hole.from + interval / 60) % 1440, (hole.from + hole.length) % 1440)
  }

  static func == (left: Rhythm, right: Rhythm) -> Bool {
    (left.interval, left.isIrregular, left.hasWeekdays) == (right.interval, right.isIrregular, right.hasWeekdays)
      && left.quiet?.from == right.quiet?.from && left.quiet?.to == right.quiet?.to
  }

  func hash(into hasher: inout Hasher) { hasher.combine(interval) }
}
