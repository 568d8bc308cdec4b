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

/// A boot whose wall clock may be set late, as on a machine without a real-time clock.
///
/// The daemon then does not know how long the machine was off. It restores the state by the present clock. The first
/// large step forward shows the rest of the time off: restored instants move as if the clock had been right from the
/// start. Times that were set since the start keep their distance.
public struct LateClock: Hashable, Sendable {
  /// The wall clock by which the state was restored, in microseconds of Unix time: the last save, or later.
  public var savedWall: Int64
  /// When the state was restored, boot clock.
  public var restoredAt: Instant
  /// Whether an earlier daemon of this boot restored it, so that it is unknown which future times were set since.
  let isEarlier: Bool
  /// The restored instants that were still ahead at the start.
  var ahead = Ahead()

  /// The least step that counts; a smaller step corrects a clock that runs fast or slow.
  static let largeStep = Duration.minutes(1)

  /// Makes a late clock from its parts.
  public init(savedWall: Int64, restoredAt: Instant, isEarlier: Bool = false) {
    (self.savedWall, self.restoredAt, self.isEarlier) = (savedWall, restoredAt, isEarlier)
  }

  /// Whether a step of the wall clock is the large step past the last save, which shows the time off.
  public func isSettled(by offset: Duration, after before: Duration) -> Bool {
    guard restoredAt.microseconds + offset.inMicroseconds >= savedWall else { return false }
    return (offset - before).inMicroseconds.magnitude >= Self.largeStep.inMicroseconds.magnitude
  }

  /// The restored instants that lay ahead: the end of a pause, and times of apps and transfers.
  ///
  /// Any other time was set since the start, and is right.
  struct Ahead: Hashable, Sendable {
    var pause: Instant?
    var apps: [AppID: Set<Instant>] = [:]
    var transfers: [TransferID: Instant] = [:]
  }

  /// Remembers the restored instants of apps, pushes and the pause that are still ahead.
  mutating func remember(_ states: [AppID: AppState], _ pushes: [AppID: [Push]], _ pause: Pause?) {
    guard !isEarlier else { return }
    if case .until(let end)? = pause { ahead.pause = end }
    for (id, state) in states {
      let instants = state.instantsAhead + (pushes[id] ?? []).map(\.earliest)
      let later = instants.filter { $0 > restoredAt }
      if !later.isEmpty { ahead.apps[id] = Set(later) }
    }
  }

  /// Remembers the restored transfers that wait for their time.
  mutating func remember(_ transfers: [TransferID: TransferState]) {
    guard !isEarlier else { return }
    for (id, state) in transfers {
      if case .waiting(let from) = state.stage, from > restoredAt { ahead.transfers[id] = from }
    }
  }

  /// How long the machine was off beyond what was counted, by a correct wall clock; not negative.
  public func timeOff(by wallOffset: Duration) -> Duration {
    max(.zero, .microseconds(restoredAt.microseconds + wallOffset.inMicroseconds - savedWall))
  }

  /// Moves instants back by the time off: instants before the start, and restored instants ahead.
  public func passing(_ off: Duration, restored: Set<Instant>? = nil) -> (Instant) -> Instant {
    let ahead = restored ?? []
    return { [restoredAt] in $0 <= restoredAt || ahead.contains($0) ? $0 - off : $0 }
  }
}

extension AppState {
  /// The state after the time off; the plan moves too, unless a refresh has run since.
  ///
  /// A refresh that started at a restored instant, or at the moment of the restoration, started in this boot.
  public func passed(_ off: Duration, _ late: LateClock, restored: Set<Instant>? = nil) -> AppState {
    var state = moved(late.passing(off), ahead: late.passing(off, restored: restored))
    var hasRun = lastStart.map { $0 > late.restoredAt } ?? false
    if let running, running.at >= late.restoredAt {
      (state.running, state.lastStart, state.grid, hasRun) = (running, lastStart, grid, true)
    }
    state.planned = hasRun ? planned : planned.map { $0 - off }
    return state
  }
}

/// How wall time and local time follow from the boot clock.
///
/// No schedule depends on wall time; the edges map instants to it.
struct LocalClock: Hashable, Sendable {
  /// Wall time minus boot time.
  var wallOffset: Duration
  /// How local time follows from wall time.
  var zone: Zone
  /// The clock by which the state of another boot was restored, until it is set; else nil.
  var late: LateClock?

  /// Unix time in microseconds at an instant of the boot clock.
  func wall(at instant: Instant) -> Int64 { instant.microseconds + wallOffset.inMicroseconds }

  /// The local time at an instant of the boot clock.
  func local(_ instant: Instant) -> LocalTime { zone.local(wall(at: instant)) }

  /// The instant of the boot clock at a moment of Unix time in microseconds.
  func instant(atWall wall: Int64) -> Instant { Instant(microseconds: wall - wallOffset.inMicroseconds) }
}

/// Hours of every day in which nothing deferrable starts.
public struct QuietHours: Hashable, Sendable {
  /// When they begin, minutes of the local day, 0 to 1,439.
  public var from: Int
  /// When they end, minutes of the local day, 0 to 1,439; before `from` when midnight lies between.
  public var to: Int

  /// Makes quiet hours.
  public init(from: Int, to: Int) {
    self.from = from
    self.to = to
  }
}

extension QuietHours {
  /// Whether a local time lies in them.
  func contains(_ local: LocalTime) -> Bool {
    let minute = local.minuteOfDay
    return from <= to ? Double(from) <= minute && minute < Double(to) : minute >= Double(from) || minute < Double(to)
  }
}

extension Judge {
  /// When the quiet hours around an instant end for an app, boot clock; nil outside quiet hours.
  ///
  /// Each app's end is later by its spread, so that the apps of a quiet night do not all start in one moment.
  func end(of quiet: QuietHours, for id: AppID, at now: Instant) -> Instant? {
    let offset = spread.offset(of: id, within: Engine.catchUpSpan).inMicroseconds
    let (wall, zone) = (clock.wall(at: now), clock.zone)
    for moment in [wall, wall - offset] where quiet.contains(zone.local(moment)) {
      var end = zone.next(minuteOfDay: quiet.to, from: moment)
      // Daylight saving may set the clock out of the quiet hours.
      let out = zone.changes.first { $0.at > moment && $0.at < end && !quiet.contains(zone.local($0.at)) }
      if let out { end = out.at }
      return clock.instant(atWall: end + offset)
    }
    return nil
  }

  /// The refresh, its window cut to end before quiet hours begin.
  ///
  /// Otherwise a window that reaches into quiet hours would end with them, hours later.
  func endingBefore(_ quiet: QuietHours, _ due: Due) -> Due {
    guard due.trigger.isDeferrable, due.window.latest > due.window.earliest else { return due }
    var due = due
    let last = beginning(of: quiet, after: due.window.earliest) - .seconds(1)
    due.window.latest = max(due.window.earliest, min(due.window.latest, last))
    return due
  }

  /// When quiet hours begin next, or the zone changes, which may lead into them; boot clock.
  func beginning(of quiet: QuietHours, after now: Instant) -> Instant {
    let wall = clock.wall(at: now)
    let begin = clock.zone.next(minuteOfDay: quiet.from, from: wall + 1)
    let change = clock.zone.changes.first { $0.at > wall }?.at ?? begin
    return clock.instant(atWall: min(begin, change))
  }
}
