import Glibc
import RefreshAPI

/// A source with its state and counters since the bridge started.
@MainActor
final class SourceRecord {
  let source: any Source
  var state: SourceState
  /// The number of messages from the source.
  var received = 0
  /// The number of messages that were refused for good.
  var refused = 0
  /// The last problem in the journal, while the problem lasts.
  var reportedProblem: String?

  init(_ source: any Source, at now: ContinuousClock.Instant) {
    self.source = source
    state = SourceState(at: now)
  }

  /// The report on the source for the daemon.
  ///
  /// `wall` is the wall clock at the moment `now`, in microseconds.
  func wire(at now: ContinuousClock.Instant, wall: Int64) -> Wire.Source {
    func onWall(_ instant: ContinuousClock.Instant) -> Int64 { wall + now.duration(to: instant).microseconds }
    return Wire.Source(
      name: source.name, kind: source.kind, isConnected: state.isConnected, sinceMicroseconds: onWall(state.since),
      problem: state.problem, retryMicroseconds: state.retry.map(onWall), received: received, refused: refused)
  }
}

/// The wall clock, which may jump.
enum WallClock {
  /// Microseconds since 1970 (`CLOCK_REALTIME`).
  static func microseconds() -> Int64 {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return Int64(now.tv_sec) * 1_000_000 + Int64(now.tv_nsec) / 1000
  }
}
