import RefreshEngine

/// The wall clock in the book: a boot may begin with a wrong one.
extension Bystander {
  /// The restored times that may lie in the future.
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

  /// The time that the machine was off, known by the first large step of its clock.
  struct TimeOff: Sendable {
    let span: Duration
    let restoredAt: Instant
    let restored: Restored

    /// Moves an instant before the start.
    func pass(_ instant: Instant) -> Instant { instant <= restoredAt ? instant - span : instant }

    /// Moves an instant before the start, or a restored instant after it.
    func passAhead(_ instant: Instant, of id: AppID) -> Instant {
      restored.times[id]?.contains(instant) == true ? instant - span : pass(instant)
    }

    /// The apps with all their instants moved.
    func passing(_ apps: [AppID: App]) -> [AppID: App] {
      Dictionary(
        uniqueKeysWithValues: apps.map { id, app in
          var moved = app
          moved.move(pass) { passAhead($0, of: id) }
          // A refresh that runs since the very moment of the restoration started in this boot.
          if let run = app.run, run.startedAt >= restoredAt {
            (moved.lastStart, moved.grid) = (app.lastStart, app.grid)
          }
          return (id, moved)
        })
    }
  }

  /// Handles a step of the clock; the first large step past the last save gives the time that the machine was off.
  mutating func step(to offset: Duration, at now: Instant) {
    let step = (offset - wallOffset).inMicroseconds.magnitude
    wallOffset = offset
    guard let late = lateClock, step >= 60_000_000 else { return }
    let off = late.restoredAt.microseconds + offset.inMicroseconds - late.savedWall
    guard off >= 0 else { return }
    lateClock = nil
    let timeOff = TimeOff(span: .microseconds(off), restoredAt: late.restoredAt, restored: restored)
    apps = timeOff.passing(apps)
    self.timeOff = timeOff
    guard off > 0, case .until(let end) = pause, restored.pause == pause else { return }
    pause = end - .microseconds(off) <= now ? nil : .until(end - .microseconds(off))
  }
}

extension Bystander.App {
  /// Changes all past instants, and all instants that may lie in the future.
  mutating func move(_ past: (Instant) -> Instant, ahead: (Instant) -> Instant) {
    lastStart = lastStart.map(past)
    seenAt = seenAt.map(past)
    freshAt = freshAt.map(past)
    grid = grid.map(past)
    strikes = strikes.map(past)
    retryFrom = retryFrom.map(ahead)
    refusedUntil = refusedUntil.map(ahead)
    skippedUntil = skippedUntil.map(ahead)
    oneShot = oneShot.map { OneShot(earliest: ahead($0.earliest), reason: $0.reason) }
  }
}
