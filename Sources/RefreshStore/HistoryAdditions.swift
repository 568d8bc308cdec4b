import RefreshEngine

/// The lines that the history gets with the next save; each kind in order of time.
///
/// A full disk may stay full for days, so the oldest of each kind are given up beyond a bound. The states, which are
/// bounded by the apps, matter more.
public struct HistoryAdditions: Hashable, Sendable {
  /// The most of each kind that wait for room.
  public static let most = 1_000

  /// When the user brought apps to the foreground and left them, boot clock.
  public var openings: [Opening] = []
  /// The refreshes that ended.
  public var refreshes: [RefreshRecord] = []
  /// The waits that ended.
  public var waits: [WaitRecord] = []
  /// The pushes that were dropped.
  public var droppedPushes: [DroppedPush] = []

  /// No additions.
  public init() {}

  /// The additions of a decision.
  public init(_ decision: Decision) {
    (openings, refreshes) = (decision.openings, decision.ended)
    (waits, droppedPushes) = (decision.waited, decision.pushesDropped)
  }

  /// The apps that must have a row.
  var apps: Set<AppID> {
    Set(openings.map(\.app) + refreshes.map(\.app) + waits.map(\.app) + droppedPushes.map(\.app))
  }

  /// Appends in place what happened after these.
  public mutating func append(_ later: HistoryAdditions) {
    func append<Line>(_ later: [Line], to lines: inout [Line]) {
      lines += later
      if lines.count > Self.most { lines.removeFirst(lines.count - Self.most) }
    }
    append(later.openings, to: &openings)
    append(later.refreshes, to: &refreshes)
    append(later.waits, to: &waits)
    append(later.droppedPushes, to: &droppedPushes)
  }

  /// Drops what is about apps of which nothing is to be kept.
  public mutating func remove(_ apps: Set<AppID>) {
    openings.removeAll { apps.contains($0.app) }
    refreshes.removeAll { apps.contains($0.app) }
    waits.removeAll { apps.contains($0.app) }
    droppedPushes.removeAll { apps.contains($0.app) }
  }
}
