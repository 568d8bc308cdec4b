/// The effect of entering the foreground on data that exists already.
public enum OnForeground: String, Hashable, Sendable, CaseIterable {
  /// Refresh at once if the data is older than the foreground interval.
  case stale
  /// Refresh at once.
  case always
  /// Only start the foreground interval.
  case never
}

/// The policy of an app's file, as far as the engine needs it.
///
/// The commands themselves stay with the daemon.
public struct Policy: Hashable, Sendable {
  /// Least time between two starts while the app is in the foreground; 5 min by default.
  public var foregroundInterval: Interval
  /// Least time between two starts while the app is in the background; 24 h by default.
  public var backgroundInterval: Interval
  /// The effect of entering the foreground; `stale` by default.
  public var onForeground: OnForeground
  /// How long a refresh may take before it is stopped; 30 s by default.
  public var deadline: Duration
  /// How long a refresh that was told to stop may take before it is killed; 5 s by default.
  public var grace: Duration
  /// The tasks, in the order of the file.
  ///
  /// They run side by side, or one after the other where they say so, under the one deadline. An app without any is
  /// refreshed only while a process of it is attached.
  public var tasks: [TaskPolicy]
  /// The number of the user whose app it is, 0 by default: a user's refreshes share that user's slots.
  public var owner: UInt32 = 0
  /// Whether the end of the app on the user's desktop is `terminated`; false by default.
  public var isTerminatedOnExit = false
  /// The conditions it asks for; none by default.
  public var constraints = Constraints()
  /// Hours in which nothing starts by time; none by default.
  public var quiet: QuietHours?
  /// The age of the data from which constraints are relaxed, one after the other; nil for three times
  /// the background interval.
  public var maxStale: Duration?
  /// The age of the data from which the daemon reports stale data; nil, the default, for none.
  public var staleAfter: Duration?
  /// How long a due refresh is held before the daemon reports it; nil, the default, for no report.
  public var heldFor: Duration?
  /// How many refreshes in a row fail before the daemon reports that the app is failing; 2 by default, nil for no report.
  public var failuresBeforeNotice: Int32? = 2
  /// Whether the daemon reports each end of a refresh, to a command or to a server; no by default.
  public var reportsEnds = false
  /// Whether the last rung of the ladder lets the app use a metered network; no by default.
  public var meteredWhenStale = false
  /// Whether it is long work, which stops when the user returns; no by default.
  ///
  /// Its constraints are never relaxed.
  public var isProcessing = false
  /// The service that it guards, in place of being refreshed; nil, the default, for none.
  ///
  /// Its constraints are never relaxed.
  public var guarded: GuardedUnit?
  /// Whether background refreshes are planned by what is learnt; yes by default.
  ///
  /// The plan is made between the interval and `max_stale`; without it the interval is the schedule.
  public var isAdaptive = true
  /// The share of the machine for refreshes that nobody waits for; low by default.
  public var backgroundPriority = BackgroundPriority.low
  /// Numbers that take the place of learnt ones; none by default.
  public var pins = Pins()
  /// The folders in which a change asks for a refresh, as the file names them; none by default.
  public var watch: [String] = []
  /// How long nothing must change in them before that refresh starts; 30 s by default.
  public var watchSettle = Duration.seconds(30)
  /// How many pushes may wake it; 3 an hour, 5 one after the other, by default.
  public var pushLimit = PushLimit()
  /// Why the app's file cannot be used, which holds the app; nil, the default, when it can.
  public var unusable: String?

  /// Makes a policy with the default values.
  public init(
    foregroundInterval: Interval = .every(.minutes(5)), backgroundInterval: Interval = .every(.hours(24)),
    onForeground: OnForeground = .stale, deadline: Duration = .seconds(30), grace: Duration = .seconds(5),
    tasks: [TaskPolicy]
  ) {
    self.foregroundInterval = foregroundInterval
    self.backgroundInterval = backgroundInterval
    self.onForeground = onForeground
    self.deadline = deadline
    self.grace = grace
    self.tasks = tasks
  }
}
