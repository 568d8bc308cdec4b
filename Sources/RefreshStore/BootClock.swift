import RefreshEngine

/// A reading of the machine's clocks: the boot, and the offset of its clock from wall time.
public struct BootClock: Hashable, Sendable {
  /// The kernel's id of the boot, the text of `/proc/sys/kernel/random/boot_id`.
  public var bootID: String
  /// When the reading was made, boot clock.
  public var now: Instant
  /// Wall time (Unix time) less boot time, to the microsecond.
  public var wallOffset: Duration

  /// Makes a reading from its parts.
  public init(bootID: String, now: Instant, wallOffset: Duration) {
    self.bootID = bootID
    self.now = now
    self.wallOffset = wallOffset
  }

  /// Unix time of an instant of this boot, in microseconds.
  func wall(_ instant: Instant) -> Int64 { instant.microseconds + wallOffset.inMicroseconds }

  /// The wall clock at this reading, as if it had been set in time: a late clock goes on from the last save.
  func wall(_ late: LateClock?) -> Int64 {
    max(wall(now), late.map { $0.savedWall + $0.restoredAt.duration(to: now).inMicroseconds } ?? .min)
  }

  /// How far instants that were saved by `saved` must be moved to be right on this clock.
  ///
  /// Within a boot they stay: a step of the wall clock moves nothing. After a reboot each keeps its wall time. If the wall
  /// clock shows less than at the last save, it was set back meanwhile, and no time counts as passed. So the past stays
  /// past, the future is no further ahead, and the next refresh of an app is at most one interval away.
  func shift(since saved: BootClock, _ late: LateClock?) -> Duration {
    guard bootID != saved.bootID else { return .zero }
    let down = max(0, wall(now) - saved.wall(late))
    return .microseconds(now.microseconds - down - saved.now.microseconds)
  }

  /// The clock by which the state was restored, which may still be set; within a boot, the clock of its first start.
  func late(since saved: BootClock, _ late: LateClock?) -> LateClock? {
    guard bootID != saved.bootID else { return late }
    return LateClock(savedWall: max(saved.wall(late), wall(now)), restoredAt: now)
  }
}
