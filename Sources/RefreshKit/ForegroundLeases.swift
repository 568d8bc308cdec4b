/// The foreground leases of a client, and the one stream behind all of them.
///
/// The stream has no part in whether the client is connected: when it cannot be had it is tried again alone, so that it
/// ends neither the attachment nor the refresh in progress.
struct ForegroundLeases {
  static let stream = Stream.lease(.foreground)

  /// How many there are.
  var count = 0
  /// How often the stream has failed since the client was connected.
  private var failures = 0
  /// When the stream is tried again; nil unless it has failed.
  private(set) var retry: ContinuousClock.Instant?

  mutating func failed(at now: ContinuousClock.Instant) {
    failures += 1
    retry = now + BackOff.pause(after: failures, chance: .random(in: 0...1))
  }

  /// Whether the stream may be tried at this instant.
  mutating func isDue(at now: ContinuousClock.Instant) -> Bool {
    if let retry, retry > now { return false }
    retry = nil
    return count > 0
  }

  /// Forgets the failures.
  mutating func reset() {
    failures = 0
    retry = nil
  }
}

extension RefreshClient {
  /// Opens or ends the stream, as there are leases.
  func settleForeground() {
    if foregroundLeases.count == 0 { drop(ForegroundLeases.stream) }
    guard link.isUp, streams[ForegroundLeases.stream] == nil, foregroundLeases.isDue(at: .now) else { return }
    open(ForegroundLeases.stream)
  }
}
