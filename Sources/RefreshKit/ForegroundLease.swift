import Synchronization

/// Keeps the app in the foreground while it is held.
///
/// The lease ends with ``end()``, with its last reference, or with the process.
public final class ForegroundLease: Sendable {
  private let client: Mutex<RefreshClient?>

  /// Makes a lease that holds nothing if the client is nil.
  init(of client: RefreshClient?) {
    self.client = Mutex(client)
  }

  deinit { end() }

  /// Ends the lease; further calls do nothing.
  public func end() {
    let held = client.withLock { client in
      defer { client = nil }
      return client
    }
    guard let held else { return }
    Task { await held.leaveForeground() }
  }
}

/// Counts the foreground leases of a client, which share one stream.
///
/// Only a failed stream is retried. Its failure ends neither the attachment nor the refresh in progress.
struct ForegroundLeases {
  static let stream = Stream.lease(.foreground)

  /// The number of leases.
  var count = 0
  /// The failures of the stream since the client connected.
  private var failures = 0
  /// When the stream is retried; nil unless it has failed.
  private(set) var retry: ContinuousClock.Instant?

  mutating func failed(at now: ContinuousClock.Instant) {
    failures += 1
    retry = now + ReconnectBackOff.pause(after: failures, chance: .random(in: 0...1))
  }

  /// Whether the stream may be opened now.
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
  /// Opens the stream if there are leases, and ends it if there are none.
  func updateForeground() {
    if foregroundLeases.count == 0 { drop(ForegroundLeases.stream) }
    guard link.isUp, streams[ForegroundLeases.stream] == nil, foregroundLeases.isDue(at: .now) else { return }
    open(ForegroundLeases.stream)
  }
}
