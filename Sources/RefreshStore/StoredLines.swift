import RefreshEngine

/// A time in which a due app was held, in the history.
public struct StoredWait: Hashable, Sendable {
  /// The beginning: Unix time in microseconds, by the wall clock when the wait was saved.
  public var sinceWallMicroseconds: Int64 = 0
  /// The end: Unix time in microseconds, by the same wall clock.
  public var untilWallMicroseconds: Int64 = 0
  /// The holds, in the order of the verdict.
  public var holds: [Hold.Name] = []

  /// Makes the history's line for a wait that has just ended.
  ///
  /// `wallOffset` is wall time (Unix time) less boot time, at its end.
  public init(_ record: WaitRecord, wallOffset: Duration) {
    sinceWallMicroseconds = (record.since + wallOffset).microseconds
    untilWallMicroseconds = (record.until + wallOffset).microseconds
    holds = record.holds
  }
}

extension StoredWait: HistoryLine {
  static let table = "wait"
  init() {}

  mutating func visit(_ column: inout Columns) throws(StoreError) {
    try column.microseconds("since_wall_us", &sinceWallMicroseconds)
    try column.microseconds("until_wall_us", &untilWallMicroseconds)
    try column("holds", &holds)
  }
}

/// A push that its app never received, in the history.
public struct StoredDroppedPush: Hashable, Sendable {
  /// Its number.
  public var id = PushID(0)
  /// The subject; nil if the sender named none.
  public var contentID: String?
  /// When it came: Unix time in microseconds, by the wall clock when it was dropped.
  public var arrivedWallMicroseconds: Int64 = 0
  /// When it was dropped: Unix time in microseconds, by the same wall clock.
  public var droppedWallMicroseconds: Int64 = 0
  /// How many older payloads it had replaced.
  public var merged: Int32 = 0

  /// Makes the history's line for a push that was just dropped.
  ///
  /// `wallOffset` is wall time (Unix time) less boot time, when it was dropped.
  public init(_ push: DroppedPush, wallOffset: Duration) {
    id = push.id
    contentID = push.contentID
    arrivedWallMicroseconds = (push.arrivedAt + wallOffset).microseconds
    droppedWallMicroseconds = (push.droppedAt + wallOffset).microseconds
    merged = push.merged
  }
}

extension StoredDroppedPush: HistoryLine {
  static let table = "push_dropped"
  init() {}

  mutating func visit(_ column: inout Columns) throws(StoreError) {
    try column("id", &id)
    try column("content_id", &contentID)
    try column.microseconds("arrived_wall_us", &arrivedWallMicroseconds)
    try column.microseconds("dropped_wall_us", &droppedWallMicroseconds)
    try column.count("merged", &merged)
  }
}

/// A time in which the user had an app in the foreground, in the history.
public struct StoredOpening: Hashable, Sendable {
  /// The beginning: Unix time in microseconds, by the wall clock when it was saved.
  public var wallMicroseconds: Int64 = 0
  /// The end, likewise; nil while it goes on, and if nobody saw its end.
  public var endWallMicroseconds: Int64?
  /// Whether a desktop showed it; otherwise a signal told it.
  public var isObserved = false

  /// Makes an opening without an end.
  init(wallMicroseconds: Int64, isObserved: Bool) {
    (self.wallMicroseconds, self.isObserved) = (wallMicroseconds, isObserved)
  }
}

extension StoredOpening: HistoryLine {
  static let table = "opening"
  init() {}

  mutating func visit(_ column: inout Columns) throws(StoreError) {
    try column.microseconds("wall_us", &wallMicroseconds)
    try column("ended_wall_us", &endWallMicroseconds)
    try column("is_observed", &isObserved)
  }
}
