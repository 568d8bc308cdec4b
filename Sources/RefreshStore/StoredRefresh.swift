import RefreshEngine

/// A refresh in the history.
public struct StoredRefresh: Hashable, Sendable {
  /// The refresh.
  public var id = RefreshID(key: 0)
  /// When it started: Unix time in microseconds, by the wall clock at its end.
  public var startedWallMicroseconds: Int64 = 0
  /// From its start to its end.
  @PackedDuration public var duration = Duration.zero
  private var fewTasks = Few<TaskRecord>([])
  private var boxedPush: Boxed<DeliveredPush>?
  // The small fields come last, side by side, because the last refresh of each app is kept in memory.

  /// The outcome of the group.
  public var outcome = Outcome.noData
  /// The completions after the first of each task.
  public var extraCompletions: Int32 = 0
  /// Its trigger.
  public var trigger = Trigger.manual
  /// Why refreshd ended it, if it did.
  public var stopReason: StopReason?

  /// The tasks, in the order of the file.
  public var tasks: [TaskRecord] {
    get { fewTasks.list }
    set { fewTasks = Few(newValue) }
  }
  /// The push that it delivered; nil if it delivered none.
  public var push: DeliveredPush? {
    get { boxedPush?.value }
    set { boxedPush = newValue.map(Boxed.init) }
  }

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

  /// A record that reading overwrites.
  static var blank: TaskRecord { TaskRecord(name: "", outcome: .noData, duration: .zero, cpu: .zero, message: "") }
}
