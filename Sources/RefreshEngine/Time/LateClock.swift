/// A boot that began with a wall clock behind the last save, as on a machine without a real-time clock.
///
/// Nobody knows then how long the machine was off; the state is restored as if no time had passed. The first step of
/// the clock past the last save tells.
public struct LateClock: Hashable, Sendable {
  /// When the state was saved last, in microseconds of Unix time.
  public var savedWall: Int64
  /// When it was restored, boot clock.
  public var restoredAt: Instant

  /// Makes it of its parts.
  public init(savedWall: Int64, restoredAt: Instant) {
    (self.savedWall, self.restoredAt) = (savedWall, restoredAt)
  }
}

extension Engine {
  /// Counts the time that the machine was off as passed, once the wall clock is past the last save.
  ///
  /// Instants since the start are right as they are.
  mutating func countTimeOff(_ turn: inout Turn) {
    guard let late = lateClock else { return }
    let restored = late.restoredAt.microseconds + wallOffset.inMicroseconds
    guard restored >= late.savedWall else { return }
    lateClock = nil
    let off = Duration.microseconds(restored - late.savedWall)
    let past = { (instant: Instant) in instant <= late.restoredAt ? instant - off : instant }
    for id in apps.ids where apps[id]?.refreshing == nil {
      guard let app = apps[id] else { continue }
      let hasRun = app.state.lastStart.map { $0 > late.restoredAt } ?? false
      apps[id]?.state = app.state.moved(past) { hasRun ? $0 : $0 - off }
      for push in app.pushes { turn.decision.pushes[push.id] = .kept(id, push.moved(past)) }
      apps[id]?.pushes = app.pushes.map { $0.moved(past) }
      turn.decision.changed.insert(id)
    }
    turn.touched.insert(apps.indexes)
    catchUp(&turn, byStaleness: true)
  }
}
