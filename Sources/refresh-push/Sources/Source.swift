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
