/// The time zone in force: the rule from Unix time to local time, as far ahead as the engine looks (tzset(3)).
///
/// A value, so that quiet hours and days are the same in the daemon, the simulator and a rehearsal. The driver makes it
/// from the machine's zone. It hands over a new value when the zone changes, or when the last known change is near.
public struct Zone: Hashable, Sendable {
  /// A change of the offset, as by daylight saving twice a year.
  public struct Change: Hashable, Sendable {
    /// When the change comes, in microseconds of Unix time.
    public var at: Int64
    /// Seconds east of Greenwich from then on.
    public var offset: Int32

    /// Makes a change.
    public init(at: Int64, offset: Int32) {
      self.at = at
      self.offset = offset
    }
  }

  /// Seconds east of Greenwich before the first change.
  public var offset: Int32
  /// The known changes, in order of time.
  public var changes: [Change]

  /// A zone without an offset.
  public static let utc = Zone(offset: 0)

  /// Makes a zone.
  public init(offset: Int32, changes: [Change] = []) {
    self.offset = offset
    self.changes = changes
  }

  /// Microseconds east of Greenwich at a moment of Unix time in microseconds.
  func offset(at wall: Int64) -> Int64 {
    let seconds = changes.last { $0.at <= wall }?.offset ?? offset
    return Int64(seconds) * 1_000_000
  }

  /// Minutes east of Greenwich at a moment of Unix time in microseconds.
  public func minutesEast(at wall: Int64) -> Int { Int(offset(at: wall) / 60_000_000) }

  /// The local time at a moment of Unix time in microseconds.
  public func local(_ wall: Int64) -> LocalTime {
    // Three days before the Thursday of 1 January 1970.
    LocalTime(minutes: Double(wall + offset(at: wall)) / 60e6 + 3 * LocalTime.minutesOfDay)
  }

  /// The next time from `wall` on at which local time is a minute of the day; both in microseconds of Unix time.
  ///
  /// A minute in an hour that daylight saving skips comes at the end of the gap; a minute in a repeated hour comes twice.
  func next(minuteOfDay minute: Int, from wall: Int64) -> Int64 {
    let dayLength: Int64 = 86_400_000_000
    let offsetNow = offset(at: wall)
    let midnight = wall + offsetNow - ((wall + offsetNow) % dayLength + dayLength) % dayLength
    var first: Int64?
    for day in Int64(-1)...2 {
      let shown = midnight + day * dayLength + Int64(minute) * 60_000_000
      for moment in moments(showing: shown) where moment >= wall { first = min(first ?? moment, moment) }
    }
    return first ?? wall + dayLength
  }

  /// The moments at which local time is `shown`, in microseconds; for a time in a gap, the end of the gap.
  private func moments(showing shown: Int64) -> [Int64] {
    var offsets = [Int64(offset) * 1_000_000]
    offsets += changes.map { Int64($0.offset) * 1_000_000 }
    let moments = Set(offsets).map { shown - $0 }.filter { $0 + offset(at: $0) == shown }
    if !moments.isEmpty { return Array(moments) }
    let gap = changes.first { change in
      let before = offset(at: change.at - 1)
      let after = Int64(change.offset) * 1_000_000
      return change.at + before <= shown && shown < change.at + after
    }
    return gap.map { [$0.at] } ?? []
  }
}
