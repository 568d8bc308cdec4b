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

extension Engine {
  /// When the quiet hours around an instant end, boot clock; nil outside quiet hours.
  ///
  /// Each app's end is later by its spread, so that the apps of a quiet night do not all start in one moment.
  func end(of quiet: QuietHours, _ id: AppID, at now: Instant) -> Instant? {
    let offset = spread.offset(of: id, within: Self.catchUpSpan).inMicroseconds
    let wall = now.microseconds + wallOffset.inMicroseconds
    for moment in [wall, wall - offset] where quiet.contains(zone.local(moment)) {
      var end = zone.next(minuteOfDay: quiet.to, from: moment)
      // Daylight saving may set the clock out of the quiet hours.
      let out = zone.changes.first { $0.at > moment && $0.at < end && !quiet.contains(zone.local($0.at)) }
      if let out { end = out.at }
      return Instant(microseconds: end + offset - wallOffset.inMicroseconds)
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
    let wall = now.microseconds + wallOffset.inMicroseconds
    let begin = zone.next(minuteOfDay: quiet.from, from: wall + 1)
    let change = zone.changes.first { $0.at > wall }?.at ?? begin
    return Instant(microseconds: min(begin, change) - wallOffset.inMicroseconds)
  }
}
