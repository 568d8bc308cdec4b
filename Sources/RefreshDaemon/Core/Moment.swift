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

  /// Reads both clocks.
  static func now() -> Moment {
    let boot = EventLoop.bootMicroseconds()
    return Moment(
      instant: Instant(microseconds: boot), wallOffset: .microseconds(EventLoop.wallMicroseconds() - boot))
  }
}

extension Instant {
  /// The instant on the wall clock, in microseconds since 1970, at an offset of wall time to boot time.
  func wallMicroseconds(at offset: Duration) -> Int64 { (self + offset).microseconds }
}
