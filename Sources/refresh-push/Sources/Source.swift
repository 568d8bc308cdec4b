import RefreshAPI

/// One server, stream or broker of push.toml: a part that connects when the bridge says so.
///
/// All of it happens on the main thread. A source is connected to nothing until ``connect()``, and knows no back-off: it
/// says ``Bridge/connected(_:)`` when messages can come, and ``Bridge/lost(_:why:next:)`` when they no longer can, also
/// if it was never connected; then it holds nothing of that connection any more, and waits for the next `connect()`.
@MainActor
protocol Source: AnyObject {
  /// Its name in push.toml.
  var name: String { get }
  /// What it is.
  var kind: Wire.SourceKind { get }
  /// Begins to connect; called when it is due, and never while it is connected or tries to be.
  func connect()
  /// Lets go of the connection, or of the attempt at one, and tells the bridge nothing more of it.
  ///
  /// The answers to ``Bridge/take(_:from:then:)`` still come, ``Acceptance/later`` for what the daemon was not given.
  func disconnect()
}

/// When a source that lost its connection is to try again.
enum NextTry: Hashable, Sendable {
  /// After the back-off: 1 s, doubling to 5 min, any part of it.
  case backOff
  /// After the back-off, and not before so long, because the server says so.
  case notBefore(Duration)
  /// After the longest back-off: it is not likely to go better soon.
  case longest
  /// Not before push.toml is read again, because the server wants no more questions.
  case never
}
