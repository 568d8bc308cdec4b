import CCrypto
import Glibc
import RefreshAPI
import RefreshConfig

/// A server, stream or broker of push.toml, which connects when the bridge asks.
///
/// A source lives on the main thread and has no back-off of its own. It calls ``Bridge/connected(_:)`` when it can
/// receive messages. It calls ``Bridge/lost(_:why:next:)`` when it no longer can, or when the attempt failed. Then it
/// has released the connection and waits for the next ``connect()``.
@MainActor
protocol Source: AnyObject {
  /// The name in push.toml.
  var name: String { get }
  var kind: Wire.SourceKind { get }
  /// Starts to connect; never called while the source is connected or connecting.
  func connect()
  /// Closes the connection or ends the attempt, without a call to the bridge.
  ///
  /// The answers to ``Bridge/receive(_:from:then:)`` still arrive, ``MessageFate/undelivered`` for undelivered
  /// messages.
  func disconnect()
}

/// The time of the next try of a source that lost its connection.
enum NextTry: Hashable, Sendable {
  /// After the back-off: 1 s, doubling to 5 min, with full jitter.
  case backOff
  /// After the back-off, and not before the time that the server asks for.
  case notBefore(Duration)
  /// After the time that the server asked for before it ended the connection as planned; this does not count as a failure.
  case asPlanned(Duration)
  /// After the longest back-off, because an earlier try is unlikely to succeed.
  case longest
  /// Not before push.toml is read again, because the server wants no more requests.
  case never
}

extension [String] {
  /// The first three with commas, and the number of the others.
  var listed: String { prefix(3).joined(separator: ", ") + (count > 3 ? " and \(count - 3) more" : "") }
}

extension PushSource {
  /// Makes the source of these settings.
  @MainActor
  func source(for bridge: Bridge) -> any Source {
    switch self {
    case .ntfy(let settings): NtfySource(settings, for: bridge)
    case .sse(let settings): EventStreamSource(settings, for: bridge)
    case .mqtt(let settings): BrokerSource(settings, for: bridge)
    }
  }
}

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

/// SHA-256 digests, shortened to as many digits as an id needs.
enum Digest {
  /// The first `count` hexadecimal digits of the digest, at most 64; nil if out of memory.
  static func digits(_ count: Int, of bytes: some Sequence<UInt8>) -> String? {
    let bytes = Array(bytes)
    var digest = [UInt8](repeating: 0, count: 32)
    guard EVP_Digest(bytes, bytes.count, &digest, nil, EVP_sha256(), nil) == 1 else { return nil }
    let digits = Array("0123456789abcdef")
    return String(digest.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }.prefix(count))
  }
}
