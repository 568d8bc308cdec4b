import RefreshEngine

/// A time in which a due app was held, as the history has it, readable after any number of boots.
public struct StoredWait: Hashable, Sendable {
  /// The app.
  public var app: AppID
  /// From when: Unix time in microseconds, by the wall clock as it stood when the wait was saved.
  public var sinceWallMicroseconds: Int64
  /// Until when: Unix time in microseconds, by the same wall clock.
  public var untilWallMicroseconds: Int64
  /// The holds, in the order of the verdict.
  public var holds: [Hold.Name]
}

extension StoredWait {
  /// The line of the history for a wait that has just ended.
  ///
  /// - Parameter wallOffset: wall time (Unix time) less boot time, at its end.
  public init(_ record: WaitRecord, wallOffset: Duration) {
    self.init(
      app: record.app, sinceWallMicroseconds: (record.since + wallOffset).microseconds,
      untilWallMicroseconds: (record.until + wallOffset).microseconds, holds: record.holds)
  }
}
