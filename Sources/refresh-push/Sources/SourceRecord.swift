import Glibc
import RefreshAPI

/// A source and how it has been since the bridge started.
@MainActor
final class SourceRecord {
  let source: any Source
  var state: SourceState
  /// How many messages it brought.
  var received = 0
  /// How many of them were refused for ever.
  var refused = 0
  /// The problem that the journal was last told of, while it lasts.
  var toldProblem: String?

  init(_ source: any Source, at now: ContinuousClock.Instant) {
    self.source = source
    state = SourceState(at: now)
  }

  /// How it is, for the daemon; `wall` is microseconds of the wall clock at the same moment as `now`.
  func wire(at now: ContinuousClock.Instant, wall: Int64) -> Wire.Source {
    func onWall(_ instant: ContinuousClock.Instant) -> Int64 { wall + now.duration(to: instant).microseconds }
    return Wire.Source(
      name: source.name, kind: source.kind, isConnected: state.isConnected, sinceMicroseconds: onWall(state.since),
      problem: state.problem, retryMicroseconds: state.retry.map(onWall), received: received, refused: refused)
  }
}

/// The wall clock, which may step either way.
enum WallClock {
  /// Microseconds since 1970 (`CLOCK_REALTIME`).
  static func microseconds() -> Int64 {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return Int64(now.tv_sec) * 1_000_000 + Int64(now.tv_nsec) / 1000
  }
}
