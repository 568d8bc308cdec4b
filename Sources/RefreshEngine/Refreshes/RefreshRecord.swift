/// The result of one refresh: a line of the history.
public struct RefreshRecord: Hashable, Sendable {
  /// The refresh.
  public var id: RefreshID
  /// Its app.
  public var app: AppID
  /// Why it started.
  public var trigger: Trigger
  /// When it started, boot clock.
  public var startedAt: Instant
  /// When its last process ended, boot clock; for a refresh that the daemon lost, when the daemon came back.
  public var endedAt: Instant
  /// The outcome of the group: the first failure, else any new data, else no data.
  public var outcome: Outcome
  /// Why refreshd ended it, if it did.
  public var stopReason: StopReason?
  /// The completions after the first of each task, which are ignored.
  public var extraCompletions: Int
  /// The tasks, in the order of the file; empty for a lost refresh, and for a sync by the app itself.
  public var tasks: [TaskRecord]
  /// The push that it delivered; nil when it delivered none.
  public var push: DeliveredPush?

  /// Whether any task found new data, also if another failed.
  var foundNew: Bool { outcome == .newData || tasks.contains { $0.outcome == .newData } }

  /// The bytes that all tasks sent and received over the network; nil if they were not counted.
  public var bytes: Int64? {
    let counted = tasks.compactMap(\.bytes)
    return counted.isEmpty ? nil : counted.reduce(0, +)
  }

  /// Makes a record from its parts.
  public init(
    id: RefreshID, app: AppID, trigger: Trigger, startedAt: Instant, endedAt: Instant, outcome: Outcome,
    stopReason: StopReason? = nil, extraCompletions: Int = 0, tasks: [TaskRecord] = []
  ) {
    self.id = id
    self.app = app
    self.trigger = trigger
    self.startedAt = startedAt
    self.endedAt = endedAt
    self.outcome = outcome
    self.stopReason = stopReason
    self.extraCompletions = extraCompletions
    self.tasks = tasks
  }
}

/// The end of one task, for a caller that waits for the task and not for the whole refresh.
public struct EndedTask: Hashable, Sendable {
  /// The refresh.
  public var refresh: RefreshID
  /// Its app.
  public var app: AppID
  /// The result.
  public var record: TaskRecord
  /// The deadline of the refresh at that moment, boot clock.
  public var deadline: Instant

  /// Makes an ended task from its parts.
  public init(_ refresh: RefreshID, of app: AppID, _ record: TaskRecord, deadline: Instant) {
    (self.refresh, self.app, self.record, self.deadline) = (refresh, app, record, deadline)
  }
}

/// The result of one task of a refresh.
public struct TaskRecord: Hashable, Sendable {
  /// The task's name in the app's file.
  public var name: String
  /// From the task's start to its end; zero for a task that was not run.
  public var duration: Duration
  /// User and system time of the task's processes, as `wait4(2)` counts them.
  public var cpu: Duration
  /// The last line that the task printed, or the message of its completion; empty if none.
  ///
  /// For a task that a lost constraint stopped, ``lostConstraint``.
  public var message: String
  /// The bytes that its processes sent and received over the network; nil if they were not counted.
  public var bytes: Int64?
  /// How it ended.
  public var outcome: Outcome

  /// The first word of ``lostConstraint``, which earlier daemons did not write.
  static let lacking = "needed "

  /// The needed and the present condition, for a task that a lost constraint stopped; nil otherwise.
  public var lostConstraint: String? {
    outcome == .failed(.stopped(.constraintLost)) && message.hasPrefix(Self.lacking) ? message : nil
  }

  /// The first words of the message of a task that a person let expire.
  static let expired = "expired on request"

  /// The cause of a stop where its reason alone does not say it: ``lostConstraint``, or that a person let it expire.
  public var stopDetail: String? {
    if outcome == .failed(.stopped(.deadline)), message.hasPrefix(Self.expired) { return Self.expired }
    return lostConstraint
  }

  /// Makes a record from its parts.
  public init(
    name: String, outcome: Outcome, duration: Duration, cpu: Duration, message: String, bytes: Int64? = nil
  ) {
    self.name = name
    self.outcome = outcome
    self.duration = duration
    self.cpu = cpu
    self.message = message
    self.bytes = bytes
  }
}
