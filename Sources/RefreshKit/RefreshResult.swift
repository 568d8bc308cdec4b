/// What a refresh has brought, as its handler tells it: new data, or none.
///
/// A handler that cannot do its work throws; that is the third result, failed (DESIGN section 4, "Results").
public struct RefreshResult: Hashable, Sendable {
  let outcome: RefreshOutcome
  let message: String?

  /// There was something new.
  public static let newData = RefreshResult(outcome: .newData, message: nil)

  /// There was something new, and one line about it for the history, such as `3 mails`.
  ///
  /// What is longer than 200 bytes is cut.
  public static func newData(_ message: String) -> RefreshResult {
    RefreshResult(outcome: .newData, message: message)
  }

  /// All went well, and nothing was new.
  public static let noData = RefreshResult(outcome: .noData, message: nil)
}

/// What a handler throws when the other side is down or busy: the refresh has failed, and is worth a retry.
///
///     if response.status == 503 { throw RetryLater(after: .seconds(600), "the server is busy") }
///
/// Any other error is a failure as well, but the next refresh comes when it would have come anyway.
public struct RetryLater: Error, CustomStringConvertible, Sendable {
  /// The longest time that the daemon takes: 24 h (`retry_after_us` of `org.refreshd.App.Complete`).
  static let longest = Duration.seconds(86_400)

  /// How long after the end of the refresh it may be tried again; from nothing to 24 h.
  public let pause: Duration
  /// One line for the history: what went wrong.
  ///
  /// What is longer than 200 bytes is cut.
  public let description: String

  /// A retry after a time that the other side has told, such as an HTTP server by `Retry-After`.
  ///
  /// More than 24 h counts as 24 h, and less than nothing as nothing: the time is another program's, and the refresh
  /// has failed all the same.
  public init(after pause: Duration, _ description: String = "worth a retry") {
    self.pause = min(max(pause, .zero), Self.longest)
    self.description = description
  }
}
