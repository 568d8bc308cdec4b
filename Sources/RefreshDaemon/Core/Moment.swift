import RefreshEngine
import Systemd

/// What the clocks of the machine say at one moment: the edge where time enters the daemon.
struct Moment {
  /// The boot clock.
  let instant: Instant
  /// Wall time minus boot time.
  let wallOffset: Duration

  /// How far the wall clock must be off the offset in force to count as stepped.
  ///
  /// NTP slews a clock by at most 500 ppm (adjtimex(2)), some microseconds between two looks; what is above this is a step
  /// or a slew that has added up, and both are worth a new offset.
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
