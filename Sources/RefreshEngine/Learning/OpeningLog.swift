/// The last openings of an app, day by day: a few weeks for most apps, a few days for an app that is always in use.
///
/// Takes a byte for each opening and for the end of each day. The oldest days go when the room is full.
struct OpeningLog: Hashable, Sendable {
  /// The room, in bytes.
  ///
  /// Measured: 64 lose half a percent of the gain of 128; 96 lose nothing.
  static let room = 96
  /// The byte that ends a day; a byte that is n higher is a gap of n unknown days, a lower byte is a timeslot.
  static let dayEnd = UInt8(Use.timeslots)
  /// The longest gap, in days: whole weeks are left out, and each opening keeps its day of the week.
  static let longestGap = 6

  /// The present local day; nil before the first.
  private(set) var day: Int32?
  private(set) var bytes = Numbers<96, UInt8>()
  private(set) var count: UInt8 = 0

  /// Makes an empty log.
  init() {}

  /// Reads a stored log; nil if the bytes cannot be a log.
  init?(bytes: [UInt8], day: Int32?) {
    let last = Self.dayEnd + UInt8(Self.longestGap)
    guard bytes.count <= Self.room, bytes.allSatisfy({ $0 <= last }) else { return nil }
    self.bytes = Numbers(bytes)
    (self.count, self.day) = (UInt8(bytes.count), day)
    guard self.day != nil || bytes.isEmpty else { return nil }
  }

  /// Notes an opening; true if it is the first in its timeslot.
  mutating func opened(day today: Int, timeslot: Int) -> Bool {
    advance(to: today)
    var index = Int(count) - 1
    while index >= 0, bytes[index] < Self.dayEnd {
      if Int(bytes[index]) == timeslot { return false }
      index -= 1
    }
    append(UInt8(timeslot))
    return true
  }

  /// Ends the days before `today`; at most a week of them counts as seen.
  ///
  /// If the clock or the zone was set back by a day, the present day goes on. If it was set back further, the whole past
  /// moves back by whole weeks.
  mutating func advance(to today: Int) {
    guard let head = day.map(Int.init) else { return day = Int32(clamping: today) }
    if today < head - 1 {
      day = Int32(clamping: head - (head - today + 6) / 7 * 7)
      return advance(to: today)
    }
    for seen in Self.seen(of: head..<max(head, today)) {
      skip(to: seen)
      end(seen)
    }
  }

  /// Ends the present day, if it is `seen`, and counts it as seen.
  mutating func end(_ seen: Int) {
    guard day == Int32(clamping: seen) else { return }
    append(Self.dayEnd)
    day = Int32(clamping: seen + 1)
  }

  /// The days to count as seen when several end at once: the first, on which the user may have come, and the last days.
  static func seen(of past: Range<Int>) -> [Int] {
    past.count <= Use.mostDays ? Array(past) : [past.lowerBound] + past.suffix(Use.mostDays - 1)
  }

  /// Skips the unknown days before `later`; the past moves on by whole weeks with them.
  mutating func skip(to later: Int) {
    guard let head = day.map(Int.init), later > head else { return }
    let gap = (later - head) % (Self.longestGap + 1)
    if gap > 0 { append(Self.dayEnd + UInt8(gap)) }
    day = Int32(clamping: later)
  }

  private mutating func append(_ byte: UInt8) {
    if Int(count) == Self.room { dropOldestDay() }
    bytes[Int(count)] = byte
    count += 1
  }

  /// Drops the bytes of the oldest day, or the first byte if one day fills the room.
  private mutating func dropOldestDay() {
    let end = bytes.prefix(Int(count)).firstIndex { $0 >= Self.dayEnd } ?? 0
    let rest = Int(count) - end - 1
    for index in 0..<rest { bytes[index] = bytes[end + 1 + index] }
    for index in rest..<Int(count) { bytes[index] = 0 }
    count = UInt8(rest)
  }

  /// The seen days before some day, and the openings on them and later.
  struct Days {
    /// The seen days that have ended.
    var seen: [Int] = []
    /// The openings, in order of time, also of the present day.
    var openings: [(day: Int, timeslot: Int)] = []

    /// The timeslots in which the app was opened on a day.
    func timeslots(onDay day: Int) -> [Int] { openings.filter { $0.day == day }.map(\.timeslot) }
  }

  /// The days and openings of the log, the oldest first.
  var days: Days {
    guard let head = day.map(Int.init) else { return Days() }
    let entries = bytes.prefix(Int(count))
    var days = Days()
    var day = head - entries.reduce(0) { $0 + Self.days(of: $1) }
    for byte in entries {
      if byte == Self.dayEnd { days.seen.append(day) }
      if byte < Self.dayEnd { days.openings.append((day, Int(byte))) }
      day += Self.days(of: byte)
    }
    return days
  }

  /// By how many days a byte moves on.
  private static func days(of byte: UInt8) -> Int {
    byte < dayEnd ? 0 : max(Int(byte - dayEnd), 1)
  }
}
