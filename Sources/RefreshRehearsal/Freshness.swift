/// The benefit of a schedule for the user, and its cost (the measures of `freshness.py`).
public struct Freshness: Hashable, Sendable {
  /// How many minutes were measured.
  public var minutes: Double
  /// The background refreshes of an app on a day.
  public var refreshesPerAppAndDay: Double
  /// The number of wakes of the machine for them on a day.
  public var wakesPerDay: Double
  /// How many openings were measured.
  public var openings: Int
  /// The share of the refreshes that found nothing.
  public var waste: Double
  /// The share of the openings at which the data was current.
  public var fresh: Double
  /// The mean age at an opening, in minutes since the first update that the user had missed.
  public var age: Double

  /// Measures a schedule on the measured days of a trace.
  public init(_ schedule: Rehearsal.Schedule, on trace: Trace) {
    let begin = trace.measured.lowerBound
    var (refreshes, wasted, openings, current, age) = (0, 0, 0, 0, 0.0)
    for app in trace.apps {
      let syncs =
        (schedule.refreshes[app.id] ?? []).map { (at: $0, isOpening: false) }
        + app.openings.map { (at: $0, isOpening: true) }
      var last = 0.0
      for sync in syncs.sorted(by: { ($0.at, $1.isOpening ? 0 : 1) < ($1.at, $0.isOpening ? 0 : 1) }) {
        let missed = app.firstUpdate(after: last, until: sync.at)
        if sync.isOpening || !app.fails.contains(sync.at) { last = sync.at }
        guard sync.at >= begin else { continue }
        if sync.isOpening {
          openings += 1
          current += missed == nil ? 1 : 0
          age += missed.map { sync.at - $0 } ?? 0
        } else {
          refreshes += 1
          wasted += missed == nil ? 1 : 0
        }
      }
    }
    minutes = max(1, trace.measured.upperBound - begin)
    let measured = minutes / 1440
    wakesPerDay = Double(schedule.wakes.count { $0 >= begin }) / measured
    self.openings = openings
    refreshesPerAppAndDay = Double(refreshes) / measured / Double(max(1, trace.apps.count))
    waste = Double(wasted) / Double(max(1, refreshes))
    fresh = Double(current) / Double(max(1, openings))
    self.age = age / Double(max(1, openings))
  }
}
