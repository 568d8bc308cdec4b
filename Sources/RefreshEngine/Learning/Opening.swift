/// The moment at which an app came to the foreground or left it, for the history.
public struct Opening: Hashable, Sendable {
  /// The change at that moment.
  public enum Change: Hashable, Sendable {
    /// The app has come to the foreground; `isObserved` if a desktop showed it, else by signal.
    case began(isObserved: Bool)
    /// The app has left the foreground.
    case ended
  }

  /// The app.
  public var app: AppID
  /// When, boot clock.
  public var at: Instant
  /// The change.
  public var change: Change

  /// Makes an opening; by default its beginning, by signal.
  public init(app: AppID, at: Instant, change: Change = .began(isObserved: false)) {
    self.app = app
    self.at = at
    self.change = change
  }
}
