import RefreshEngine

/// The wall clock in the book: a boot may begin with a wrong one.
extension Bystander {
  /// The times that were restored and may lie ahead.
  struct Restored: Sendable {
    var times: [AppID: Set<Instant>] = [:]
    var pause: Pause?

    init(_ apps: [AppID: App], _ pause: Pause?) {
      self.pause = pause
      for (id, app) in apps {
        let ahead = [app.skippedUntil, app.oneShot?.earliest, app.retryFrom, app.refusedUntil].compactMap(\.self)
        times[id] = Set(ahead)
      }
    }
  }

  /// The clock is set; the first large step past the last save tells how long the machine was off.
  mutating func step(to offset: Duration, at now: Instant) {
    let step = (offset - wallOffset).inMicroseconds.magnitude
    wallOffset = offset
    guard let late = lateClock, step >= 60_000_000 else { return }
    let off = late.restoredAt.microseconds + offset.inMicroseconds - late.savedWall
    guard off >= 0 else { return }
    lateClock = nil
    for id in apps.keys { apps[id]?.pass(.microseconds(off), since: late.restoredAt, restored.times[id] ?? []) }
    guard off > 0, case .until(let end) = pause, restored.pause == pause else { return }
    pause = end - .microseconds(off) <= now ? nil : .until(end - .microseconds(off))
  }
}

extension Bystander.App {
  fileprivate mutating func pass(_ off: Duration, since restoredAt: Instant, _ restored: Set<Instant>) {
    let change = { (instant: Instant) in
      instant <= restoredAt || restored.contains(instant) ? instant - off : instant
    }
    lastStart = lastStart.map(change)
    seenAt = seenAt.map(change)
    freshAt = freshAt.map(change)
    retryFrom = retryFrom.map(change)
    refusedUntil = refusedUntil.map(change)
    strikes = strikes.map(change)
    skippedUntil = skippedUntil.map(change)
    oneShot = oneShot.map { OneShot(earliest: change($0.earliest), reason: $0.reason) }
  }
}
