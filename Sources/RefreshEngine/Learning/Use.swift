import CMath

/// The moment at which an app came to the foreground or left it, for the history.
public struct Opening: Hashable, Sendable {
  /// The change at that moment.
  public enum Change: Hashable, Sendable {
    /// The app has come to the foreground; `isObserved` if a desktop showed it, else by signal.
    case began(isObserved: Bool)
    /// The app has left the foreground.
    case ended
  }

  /// The app.
  public var app: AppID
  /// When, boot clock.
  public var at: Instant
  /// The change.
  public var change: Change

  /// Makes an opening; by default its beginning, by signal.
  public init(app: AppID, at: Instant, change: Change = .began(isObserved: false)) {
    self.app = app
    self.at = at
    self.change = change
  }
}

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

  /// Counts an opening; true if it is the first in its timeslot.
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

/// When the user comes, learnt from foreground entries.
struct Use: Hashable, Sendable {
  /// Half hours of a day, for the coarse habit.
  static let halfHours = 48
  /// Timeslots of ten minutes of a day.
  static let timeslots = 144
  /// Minutes of a timeslot.
  static let timeslotMinutes = 10.0
  /// The remaining part of the past after a night: a memory of about two months.
  static let memory: Float = 0.985
  /// How many days count at most when several end at once; a week has one of each day.
  ///
  /// On the other days the machine was off, or the clock jumped: neither says that the user would not have come.
  static let mostDays = 7

  /// The openings seen by half hour, first on weekdays, then on weekends; faded.
  var openings = Numbers<96, Float16>()
  /// The days seen, weekdays and weekends; faded.
  var days = SIMD2<Float>(0, 0)
  /// The last openings, by timeslot and day.
  var log = OpeningLog()
  /// The weights of ``HabitModels``, then of ``Repeats``; all zero before the first day has ended.
  var weights = Numbers<17, Float16>()

  /// How many days, faded, must be seen before an app counts as unused: six weeks.
  ///
  /// Measured: at two weeks a fleet of 200 apps lost up to a tenth of its score, at four and six weeks nothing. The first
  /// opening of an app of that fleet came after three weeks, and met very old data.
  private static let daysToBeUnused: Float = 31
  /// Below how many openings, faded, it is unused: one opening three months ago.
  private static let openingsOfUnused: Float = 0.25

  /// Whether the user does not open the app: never within six weeks, and hardly ever before.
  var isUnused: Bool { days.sum() >= Self.daysToBeUnused && total < Self.openingsOfUnused }

  /// The openings seen, faded.
  var total: Float { openings.reduce(0) { $0 + Float($1) } }

  /// The timeslot of a minute of the day.
  static func timeslot(ofMinute minute: Double) -> Int { min(max(Int(minute / timeslotMinutes), 0), timeslots - 1) }

  /// Counts an opening, several in a timeslot as one; true if it is the first in its timeslot.
  @discardableResult mutating func opened(at moment: LocalTime) -> Bool {
    let timeslot = Self.timeslot(ofMinute: moment.minuteOfDay)
    guard log.opened(day: moment.day, timeslot: timeslot) else { return false }
    openings[index(of: timeslot, onDay: moment.day)] += 1
    return true
  }

  private func index(of timeslot: Int, onDay day: Int) -> Int {
    (LocalTime.isWeekend(day: day) ? Self.halfHours : 0) + timeslot / 3
  }

  /// Ends days, of which at most ``mostDays`` count.
  ///
  /// Each counts as seen, weighs the models by how well they foretold it, and fades the past.
  ///
  /// `shared` is the use that the machine's apps share.
  mutating func passDays(_ past: Range<Int>, _ shared: SharedUse) {
    if log.day == nil { log.advance(to: past.lowerBound) }
    for day in OpeningLog.seen(of: past) {
      log.skip(to: day)
      learnWeights(of: day, shared)
      log.end(day)
      days *= Self.memory
      days[LocalTime.isWeekend(day: day) ? 1 : 0] += 1
      for index in openings.indices { openings[index] = Float16(Float(openings[index]) * Self.memory) }
    }
    log.advance(to: past.upperBound)
  }

  /// Weighs the models by how well each foretold a day that ends.
  private mutating func learnWeights(of day: Int, _ shared: SharedUse) {
    let opened = log.days.timeslots(onDay: day)
    // The openings of the day itself were unknown before it.
    var before = self
    for timeslot in opened { before.openings[index(of: timeslot, onDay: day)] -= 1 }
    let models = HabitModels(log, coarse: before.coarse(shared), pool: shared.pool)
    let (mixed, repeats) = (mixture(shared), repeats)
    let expected = models.expected(onDay: day, weights: mixed).openings
    let weights =
      HabitModels.weights(
        mixed, models.evidence(onDay: day, opened), before: shared.weights.map(Double.init),
        share: HabitModels.share)
      + HabitModels.weights(
        repeats.weights, Repeats.evidence(expected, opened), before: Repeats.before, share: Repeats.share)
    self.weights = Numbers(weights.map { Float16($0) })
  }

  private var isNew: Bool { weights.allSatisfy { $0 == 0 } }

  /// The weights of the models; nil before the first day has ended.
  var learntWeights: [Double]? { isNew ? nil : weights.prefix(HabitModels.count).map(Double.init) }

  /// The weights of the models.
  private func mixture(_ shared: SharedUse) -> [Double] { learntWeights ?? shared.weights.map(Double.init) }

  /// Whether openings repeat on a day.
  private var repeats: Repeats {
    Repeats(weights: isNew ? Repeats.before : weights.suffix(Repeats.strengths.count).map(Double.init))
  }

  /// The openings to expect on some days, from the days before them; openings on those days count as met.
  func expected(_ range: Range<Int>, _ shared: SharedUse) -> [ExpectedDay] {
    let models = HabitModels(log, coarse: coarse(shared), pool: shared.pool)
    let (mixture, repeats) = (mixture(shared), repeats)
    return range.map { day in
      ExpectedDay(
        openings: models.expected(onDay: day, weights: mixture).openings, repeats: repeats,
        timeslotsMet: models.days.timeslots(onDay: day))
    }
  }

  /// The openings to expect on some days by timeslot, and the supposed part of them.
  func explained(_ some: [Int], _ shared: SharedUse) -> [(openings: [Double], supposed: [Double])] {
    let models = HabitModels(log, coarse: coarse(shared), pool: shared.pool)
    let mixture = mixture(shared)
    return some.map { day in
      let (openings, typical) = models.expected(onDay: day, weights: mixture)
      let coarse = models.coarse(onDay: day, weights: mixture)
      let supposed = openings.indices.map { timeslot in
        min(typical * models.typical[timeslot] + coarseSupposed * coarse[timeslot / 3] / 3, openings[timeslot])
      }
      return (openings, supposed)
    }
  }
}

/// A fixed count of numbers, stored in the value itself: an array would be a separate piece of memory for each app.
struct Numbers<let count: Int, Number: Numeric & Hashable & Sendable>: Sendable {
  private var numbers = InlineArray<count, Number>(repeating: .zero)

  /// Makes zeros.
  init() {}

  /// Takes the numbers of an array: missing numbers are zero, further numbers are left out.
  init(_ array: [Number]) {
    for (index, number) in array.prefix(count).enumerated() { numbers[index] = number }
  }
}

extension Numbers: RandomAccessCollection, MutableCollection {
  var startIndex: Int { 0 }
  var endIndex: Int { count }

  subscript(index: Int) -> Number {
    get { numbers[index] }
    set { numbers[index] = newValue }
  }
}

extension Numbers: Hashable {
  static func == (left: Numbers, right: Numbers) -> Bool { left.elementsEqual(right) }

  func hash(into hasher: inout Hasher) { for number in self { hasher.combine(number) } }
}
