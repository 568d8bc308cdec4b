/// The new lines of the history for the next save, each kind in order of time, and the lines to clear.
///
/// A full disk may stay full for days, so the oldest lines of each kind are dropped beyond a bound. The states matter more,
/// and the number of apps bounds them.
public struct HistoryLines: Hashable, Sendable {
  /// The most lines of each kind that may wait.
  public static let most = 1_000

  /// The openings of apps, and their ends, boot clock.
  public var openings: [Opening] = []
  /// The refreshes that ended.
  public var refreshes: [RefreshRecord] = []
  /// The waits that ended.
  public var waits: [WaitRecord] = []
  /// The pushes that were dropped.
  public var droppedPushes: [DroppedPush] = []
  /// The apps whose desktop openings are cleared, these lines included; true clears them, false restores them.
  public var openingsForgotten: [AppID: Bool] = [:]

  /// No lines.
  public init() {}

  /// The apps that have new lines.
  public var apps: Set<AppID> {
    Set(openings.map(\.app) + refreshes.map(\.app) + waits.map(\.app) + droppedPushes.map(\.app))
  }

  /// Appends later lines in place.
  public mutating func append(_ later: HistoryLines) {
    func append<Line>(_ later: [Line], to lines: inout [Line]) {
      lines += later
      if lines.count > Self.most { lines.removeFirst(lines.count - Self.most) }
    }
    append(later.openings, to: &openings)
    append(later.refreshes, to: &refreshes)
    append(later.waits, to: &waits)
    append(later.droppedPushes, to: &droppedPushes)
    openingsForgotten.merge(later.openingsForgotten) { _, later in later }
  }

  /// Keeps the wall times of the lines when the wall clock is set by `step` before they are saved.
  ///
  /// The save adds its own offset of wall time to boot time, so the lines move back by as much.
  public mutating func keepWallTimes(whenSetBy step: Duration) {
    for index in openings.indices { openings[index].at = openings[index].at - step }
    for index in refreshes.indices {
      refreshes[index].startedAt = refreshes[index].startedAt - step
      refreshes[index].endedAt = refreshes[index].endedAt - step
    }
    for index in waits.indices {
      waits[index].since = waits[index].since - step
      waits[index].until = waits[index].until - step
    }
    for index in droppedPushes.indices {
      droppedPushes[index].arrivedAt = droppedPushes[index].arrivedAt - step
      droppedPushes[index].droppedAt = droppedPushes[index].droppedAt - step
    }
  }

  /// Drops the lines of apps that are erased.
  public mutating func remove(_ apps: Set<AppID>) {
    openings.removeAll { apps.contains($0.app) }
    refreshes.removeAll { apps.contains($0.app) }
    waits.removeAll { apps.contains($0.app) }
    droppedPushes.removeAll { apps.contains($0.app) }
  }
}
