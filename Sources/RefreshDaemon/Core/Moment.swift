import RefreshEngine
import Systemd

/// A reading of the machine's clocks.
struct Moment {
  let instant: Instant
  /// Wall time minus boot time.
  let wallOffset: Duration

  /// The difference from the offset in force at which the wall clock counts as stepped.
  ///
  /// NTP slews a clock by at most 500 ppm (adjtimex(2)), some microseconds between two readings. A larger difference is
  /// a step, or a slew that has added up; both need a new offset.
  static let step = Duration.milliseconds(100)

  /// The distance of two readings of the boot clock that leaves no doubt about the wall clock between them, in
  /// microseconds.
  private static let close: Int64 = 20

  /// Reads both clocks.
  ///
  /// The thread may lose the processor between two readings, so the closest of a few counts.
  static func now() -> Moment {
    var before = EventLoop.bootMicroseconds()
    var (offset, distance) = (Int64.zero, Int64.max)
    for _ in 0..<5 where distance > close {
      let wall = EventLoop.wallMicroseconds()
      let after = EventLoop.bootMicroseconds()
      if after - before < distance { (offset, distance) = (wall - (before + after) / 2, after - before) }
      before = after
    }
    return Moment(instant: Instant(microseconds: before), wallOffset: .microseconds(offset))
  }
}

extension Instant {
  /// The instant on the wall clock, in microseconds since 1970, at an offset of wall time to boot time.
  func wallMicroseconds(at offset: Duration) -> Int64 { (self + offset).microseconds }
}
