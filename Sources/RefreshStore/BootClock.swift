import RefreshEngine

/// A reading of the machine's clocks: the boot, and the offset of its clock from wall time.
public struct BootClock: Hashable, Sendable {
  /// The kernel's id of the boot, the text of `/proc/sys/kernel/random/boot_id`.
  public var bootID: String
  /// When the reading was made, boot clock.
  public var now: Instant
  /// Wall time (Unix time) less boot time, to the microsecond.
  public var wallOffset: Duration

  /// Makes a reading of its parts.
  public init(bootID: String, now: Instant, wallOffset: Duration) {
    self.bootID = bootID
    self.now = now
    self.wallOffset = wallOffset
  }

  /// Unix time of an instant of this boot, in microseconds.
  func wall(_ instant: Instant) -> Int64 { instant.microseconds + wallOffset.inMicroseconds }

  /// The wall clock at this reading, as if it had been set in time: one that is late yet goes on from the last save.
  func wall(_ late: LateClock?) -> Int64 {
    max(wall(now), late.map { $0.savedWall + $0.restoredAt.duration(to: now).inMicroseconds } ?? .min)
  }

  /// How far instants that were saved by `saved` must be moved to lie right on this clock.
  ///
  /// Within a boot not at all: a step of the wall clock moves nothing. After a reboot each keeps its
  /// wall time. If the wall clock shows less than at the last save, it was set back meanwhile; then no time counts as
  /// passed. So what was past stays past, what was ahead is no further ahead, and the next refresh of an app is one
  /// interval away at most.
  func shift(since saved: BootClock, _ late: LateClock?) -> Duration {
    guard bootID != saved.bootID else { return .zero }
    let down = max(0, wall(now) - saved.wall(late))
    return .microseconds(now.microseconds - down - saved.now.microseconds)
  }

  /// The clock that the state was restored by, which may be set yet; within a boot that of its first start.
  func late(since saved: BootClock, _ late: LateClock?) -> LateClock? {
    guard bootID != saved.bootID else { return late }
    return LateClock(savedWall: max(saved.wall(late), wall(now)), restoredAt: now)
  }
}
