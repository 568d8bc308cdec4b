/// The result of a successful refresh: new data or none.
///
/// A handler whose refresh fails throws an error instead.
public struct RefreshResult: Hashable, Sendable {
  let outcome: RefreshOutcome
  let message: String?

  /// The refresh brought new data.
  public static let newData = RefreshResult(outcome: .newData, message: nil)

  /// The refresh brought new data; `message` is a line for the history, such as `3 mails`.
  ///
  /// The daemon cuts a message after 200 bytes.
  public static func newData(_ message: String) -> RefreshResult {
    RefreshResult(outcome: .newData, message: message)
  }

  /// The refresh succeeded and brought nothing new.
  public static let noData = RefreshResult(outcome: .noData, message: nil)
}

/// An error that asks for a retry, because the other side is down or busy.
///
///     if response.status == 503 { throw RetryLater(after: .seconds(600), "the server is busy") }
///
/// Any other error fails the refresh too, but the next refresh then comes at its usual time.
public struct RetryLater: Error, CustomStringConvertible, Sendable {
  /// The longest pause that the daemon accepts: 24 h (`retry_after_us` of `org.refreshd.App.Complete`).
  static let longest = Duration.seconds(86_400)

  /// The shortest time from the end of the refresh to the retry, from 0 to 24 h.
  public let pause: Duration
  /// A line for the history that says what failed.
  ///
  /// The daemon cuts it after 200 bytes.
  public let description: String

  /// Makes an error with the pause that the other side asked for, such as an HTTP server with `Retry-After`.
  ///
  /// The pause is clamped to the range from 0 to 24 h, because it comes from another program.
  public init(after pause: Duration, _ description: String = "temporary failure") {
    self.pause = min(max(pause, .zero), Self.longest)
    self.description = description
  }
}

/// How a refresh ended.
public enum RefreshOutcome: Hashable, Sendable, CaseIterable {
  /// The refresh brought new data.
  case newData
  /// The refresh succeeded and brought nothing new.
  case noData
  /// The refresh failed.
  case failed
}
