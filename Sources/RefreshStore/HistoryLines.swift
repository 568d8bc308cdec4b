import RefreshEngine

/// A refresh in the history.
public struct StoredRefresh: Hashable, Sendable {
  /// The refresh.
  public var id = RefreshID(key: 0)
  /// When it started: Unix time in microseconds, by the wall clock at its end.
  public var startedWallMicroseconds: Int64 = 0
  /// From its start to its end.
  public var duration = Duration.zero
  /// The tasks, in the order of the file.
  public var tasks: [TaskRecord] = []
  /// The push that it delivered; nil if it delivered none.
  public var push: DeliveredPush?
  /// The outcome of the group.
  public var outcome = Outcome.noData
  /// The completions after the first of each task.
  public var extraCompletions: Int32 = 0
  /// Its trigger.
  public var trigger = Trigger.manual
  /// Why refreshd ended it, if it did.
  public var stopReason: StopReason?

  /// Makes the history's line for a refresh that has just ended.
  ///
  /// `wallOffset` is wall time (Unix time) less boot time, at its end.
  public init(_ record: RefreshRecord, wallOffset: Duration) {
    id = record.id
    trigger = record.trigger
    startedWallMicroseconds = (record.startedAt + wallOffset).microseconds
    duration = record.startedAt.duration(to: record.endedAt)
    outcome = record.outcome
    stopReason = record.stopReason
    extraCompletions = Int32(clamping: record.extraCompletions)
    tasks = record.tasks
    push = record.push
  }
}

extension StoredRefresh: HistoryLine {
  static let table = "refresh"
  init() {}

  mutating func visit(_ column: inout Columns) throws(StoreError) {
    try column("id", &id)
    try column("trigger", &trigger)
    try column.microseconds("started_wall_us", &startedWallMicroseconds)
    try column("duration_us", &duration)
    try outcome.visit(&column)
    try column("stop_reason", &stopReason)
    try column.count("extra_completions", &extraCompletions)
    try column.optional(&push, blank: DeliveredPush(contentID: nil, merged: 0))
  }
}

extension DeliveredPush: ColumnRecord {
  mutating func visit(_ column: inout Columns) throws(StoreError) {
    // `merged` comes first: it is null if the refresh delivered no push.
    try column.count("merged", &merged)
    try column("content_id", &contentID)
  }
}

extension TaskRecord: ColumnRecord {
  mutating func visit(_ column: inout Columns) throws(StoreError) {
    try column("name", &name)
    try outcome.visit(&column)
    try column("duration_us", &duration)
    try column("cpu_us", &cpu)
    try column("message", &message)
    try column("bytes", &bytes)
  }

  /// An empty record, which reading fills.
  static var blank: TaskRecord { TaskRecord(name: "", outcome: .noData, duration: .zero, cpu: .zero, message: "") }
}

extension Outcome: ColumnRecord {
  /// Visits four columns.
  ///
  /// `cause` is null unless it failed; `cause_code` is an exit code or the number of a signal; `cause_text` is a message,
  /// a stop reason, or the name of the task that failed.
  mutating func visit(_ column: inout Columns) throws(StoreError) {
    var (outcome, kind) = (self.kind, cause?.kind)
    var (code, text) = (cause?.code, cause?.text)
    try column("outcome", &outcome)
    try column("cause", &kind)
    try column("cause_code", &code)
    try column("cause_text", &text)
    guard column.isReading else { return }
    let failure = kind.flatMap { Cause($0, code: code ?? 0, text: text ?? "") }
    guard let read = Outcome(outcome, failure) else {
      throw column.unreadable("outcome", [outcome.code, kind?.code ?? ""].joined(separator: " "))
    }
    self = read
  }

  private var cause: Cause? {
    if case .failed(let cause) = self { cause } else { nil }
  }
}

extension Cause {
  /// The cause of this kind, with the code and the text of its row; nil if the text is not the stop reason that the kind
  /// needs.
  fileprivate init?(_ kind: Kind, code: Int32, text: String) {
    switch kind {
    case .exit: self = .exit(code)
    case .temporary: self = .temporary(code)
    case .signal: self = .signal(code)
    case .spawn: self = .spawn(text)
    case .reported: self = .reported(text)
    case .notRun: self = .notRun(after: text)
    case .stopped:
      guard let reason = StopReason(code: text) else { return nil }
      self = .stopped(reason)
    case .daemonCrashed: self = .daemonCrashed
    case .lostClient: self = .lostClient
    case .outOfMemory: self = .outOfMemory
    }
  }

  fileprivate var code: Int32? {
    switch self {
    case .exit(let code), .temporary(let code), .signal(let code): code
    default: nil
    }
  }

  fileprivate var text: String? {
    switch self {
    case .spawn(let text), .reported(let text), .notRun(let text): text
    case .stopped(let reason): reason.code
    default: nil
    }
  }
}

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
  /// Whether a desktop showed it; otherwise a signal or a lease reported it.
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
