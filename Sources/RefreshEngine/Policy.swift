/// What happens when an app enters the foreground and has data already.
public enum OnForeground: String, Hashable, Sendable, CaseIterable {
  /// Refresh at once if the data is older than the foreground interval.
  case stale
  /// Refresh at once.
  case always
  /// Only start the foreground interval.
  case never
}

/// The share of processor and disk for refreshes that nobody waits for.
public enum BackgroundPriority: String, Hashable, Sendable, CaseIterable {
  /// A fifth of the share of other processes, where there is not enough for all.
  case low
  /// The share of other processes.
  case normal
}

/// The policy of an app's file, as far as the engine needs it.
///
/// The commands themselves stay with the daemon.
public struct Policy: Hashable, Sendable {
  /// Least time between two starts while the app is in the foreground; 5 min by default.
  public var foregroundInterval: Interval
  /// When the app is refreshed by time while it is in the background; `auto` by default.
  public var backgroundInterval: BackgroundInterval
  /// The effect of entering the foreground; `stale` by default.
  public var onForeground: OnForeground
  /// How long a refresh may take before it is asked to end; 30 s by default.
  public var deadline: Duration
  /// How long a refresh that was asked to end may take before it is killed; 5 s by default.
  public var grace: Duration
  /// The tasks, in the order of the file.
  ///
  /// They run under the one deadline: side by side, or after each other where the file says so. An app without tasks is
  /// refreshed only while a process of it is attached.
  public var tasks: [TaskPolicy]
  /// The user id of the app's owner, 0 by default: a user's refreshes share that user's slots.
  public var owner: UInt32 = 0
  /// Whether the app's end on the user's desktop counts as `terminated`; false by default.
  public var isTerminatedOnExit = false
  /// The conditions that a refresh needs; none by default.
  public var constraints = Constraints()
  /// Hours in which nothing deferrable starts; none by default.
  public var quiet: QuietHours?
  /// The age of the data from which constraints are relaxed, one after the other; nil, the default, to keep them all.
  public var maxStale: Duration?
  /// The age at which the daemon reports stale data; nil, the default, for no report.
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
  /// The constraints of long work are never relaxed.
  public var isProcessing = false
  /// The service that the app guards instead of being refreshed; nil, the default, for none.
  ///
  /// The constraints of a guard are never relaxed.
  public var guarded: GuardedUnit?
  /// The share of the machine for refreshes that nobody waits for; low by default.
  public var backgroundPriority = BackgroundPriority.low
  /// Numbers in place of learnt numbers; none by default.
  public var pins = Pins()
  /// The folders whose changes ask for a refresh, as the file names them; none by default.
  public var watch: [String] = []
  /// How long these folders must be quiet before that refresh starts; 30 s by default.
  public var watchSettle = Duration.seconds(30)
  /// How many pushes may wake it; 3 an hour and 5 at once by default.
  public var pushLimit = PushLimit()
  /// Why the app's file cannot be used, so that the app is held; nil, the default, if it can.
  public var unusable: String?

  /// Makes a policy with the default values.
  public init(
    foregroundInterval: Interval = .every(.minutes(5)), backgroundInterval: BackgroundInterval = .auto(),
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

/// The bounds that the administrator sets for all apps, in `refreshd.toml`.
public struct Limits: Hashable, Sendable {
  /// The shortest foreground interval, and what `minimum` means there; 5 s by default.
  public var foregroundFloor: Duration
  /// The shortest background interval, and the floor of `auto`; 15 min by default, as on iOS and in WorkManager.
  public var backgroundFloor: Duration
  /// The longest deadline that an app may ask for; 10 min by default.
  public var deadlineCap: Duration
  /// How many refreshes may run at once, and one more of a user without any; nil, the default, for no bound.
  ///
  /// A refresh that has run for over a minute counts against its own user only, up to four times this bound in all.
  /// The daemon sets it to the number of processors unless the file says otherwise.
  public var maxConcurrent: Int?
  /// How many refreshes of one user's apps may run at once; nil, the default, for no bound but ``maxConcurrent``.
  public var maxConcurrentPerUser: Int?
  /// Whether an unknown condition counts as met; yes by default.
  public var unknownIsMet = true
  /// The effect of a power-saver profile; it makes refreshes dearer by default.
  public var powerSaver = PowerSaver.dearer
  /// The budget and the price of refreshes; `balanced` by default.
  public var profile = Profile.balanced
  /// For how long nothing deferrable starts after boot and resume; 20 s by default.
  public var settle = Duration.seconds(20)
  /// The bounds of transfers.
  public var transfers = TransferLimits()
  /// The network on which the bridge may be connected to its sources; any by default.
  public var pushNetwork = NetworkConstraint.any
  /// Whether apps log in and out with the sessions of their owners; no by default.
  public var followsSessions = false

  /// Makes limits with the default values.
  public init(
    foregroundFloor: Duration = .seconds(5), backgroundFloor: Duration = .minutes(15),
    deadlineCap: Duration = .minutes(10)
  ) {
    self.foregroundFloor = foregroundFloor
    self.backgroundFloor = backgroundFloor
    self.deadlineCap = deadlineCap
  }
}

/// The effect of the machine's power-saver profile on background refreshes.
public enum PowerSaver: String, Hashable, Sendable, CaseIterable {
  /// Nothing.
  case ignore
  /// A refresh must be worth four times as much.
  case dearer
  /// Nothing deferrable starts in the background.
  case stop
}
