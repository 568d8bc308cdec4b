/// What keeps a due app from starting, and since when.
public struct Waiting: Hashable, Sendable {
  /// Since when it is these holds, boot clock.
  public var since: Instant
  /// The names of the holds, in the order of the verdict.
  public var holds: [Hold.Name]

  /// Makes a waiting.
  public init(since: Instant, holds: [Hold.Name]) {
    self.since = since
    self.holds = holds
  }
}

/// A time in which a due app was held: a line of the history beside the refreshes (FEATURES H1).
public struct WaitRecord: Hashable, Sendable {
  /// The app.
  public var app: AppID
  /// From when, boot clock.
  public var since: Instant
  /// Until when, boot clock.
  public var until: Instant
  /// What held it.
  public var holds: [Hold.Name]

  /// Makes a record.
  public init(app: AppID, since: Instant, until: Instant, holds: [Hold.Name]) {
    self.app = app
    self.since = since
    self.until = until
    self.holds = holds
  }
}
