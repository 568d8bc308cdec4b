/// The least time between two refreshes of an app in a phase (FEATURES A1, A2).
public enum Interval: Hashable, Sendable {
  /// Not refreshed by time in this phase; triggers still work.
  case never
  /// As often as the system allows: the floor of the phase in ``Limits``.
  case minimum
  /// At least this much time after the last start; never shorter than the phase's floor.
  case every(Duration)
}

extension Interval {
  /// The least time between two starts: the interval, not below the floor of the phase; nil for `never`.
  public func spacing(floor: Duration) -> Duration? {
    switch self {
    case .never: nil
    case .minimum: floor
    case .every(let duration): max(duration, floor)
    }
  }
}

/// What entering the foreground does to data that is there already (FEATURES A4).
public enum OnForeground: String, Hashable, Sendable, CaseIterable {
  /// Refresh at once if the data is older than the foreground interval.
  case stale
  /// Refresh at once.
  case always
  /// Only start the foreground interval.
  case never
}

/// How the end of a task tells whether there was something new (FEATURES B4).
public enum NewData: Hashable, Sendable {
  /// By exit code: 0 is new data, `no_data_exit` is none.
  case exit
  /// Exit 0 is new data if anything was printed, else none.
  case output
  /// Exit 0 is new data if what is at the path changed while the task ran, else none.
  case changed(path: String)
}

/// What the engine needs to know of one task: its name and how its end is judged.
public struct TaskPolicy: Hashable, Sendable {
  /// The task's name, unique in its app.
  public var name: String
  /// How success is split into new data and no data.
  public var newData: NewData
  /// The exit code that says "no data"; 100 unless the file says otherwise.
  public var noDataExit: Int32
  /// The exit code of a failure worth a retry; 75, EX_TEMPFAIL of `sysexits.h`, unless the file says otherwise.
  public var retryExit: Int32
  /// The places of the tasks that must have ended well before this one starts, in the app's list from 0, with no circle
  /// among them; empty, the default, for a task that starts with the refresh (FEATURES B7).
  public var after: [Int] = []

  /// Makes a task's policy with the defaults of DESIGN section 4, "Results".
  public init(name: String, newData: NewData = .exit, noDataExit: Int32 = 100, retryExit: Int32 = 75) {
    self.name = name
    self.newData = newData
    self.noDataExit = noDataExit
    self.retryExit = retryExit
  }
}

/// What an app's file asks of the engine.
///
/// The commands themselves stay with the daemon.
public struct Policy: Hashable, Sendable {
  /// Least time between two starts while the app is in the foreground; 5 min by default.
  public var foregroundInterval: Interval
  /// Least time between two starts while the app is in the background; 24 h by default.
  public var backgroundInterval: Interval
  /// What entering the foreground does; `stale` by default.
  public var onForeground: OnForeground
  /// How long a refresh may take before it is stopped; 30 s by default.
  public var deadline: Duration
  /// How long a refresh that was told to stop may take before it is killed; 5 s by default.
  public var grace: Duration
  /// The tasks, in the order of the file.
  ///
  /// They run side by side, or one after the other where they say so, under the one deadline. An app without any is
  /// refreshed only while a process of it is attached (FEATURES B6).
  public var tasks: [TaskPolicy]
  /// The number of the user whose app it is, 0 by default: a user's refreshes share that user's places (FEATURES B8).
  public var owner: UInt32 = 0
  /// The conditions it asks for; none by default.
  public var constraints = Constraints()
  /// Hours in which nothing starts by time; none by default.
  public var quiet: QuietHours?
  /// The age of the data from which constraints are relaxed, one after the other (FEATURES D5); nil for three times
  /// the background interval.
  public var maxStale: Duration?
  /// The age of the data from which somebody wants to be told (FEATURES D8); nil, the default, for none.
  public var staleAfter: Duration?
  /// Whether the last rung of the ladder lets the app use a metered network; no by default.
  public var meteredWhenStale = false
  /// Whether it is long work, which stops when the user returns; no by default (FEATURES B10).
  ///
  /// Its constraints are never relaxed.
  public var isProcessing = false
  /// Whether background refreshes are planned by what is learnt; yes by default (FEATURES C5).
  ///
  /// The plan is made between the interval and `max_stale`; without it the interval is the schedule.
  public var isAdaptive = true
  /// Numbers that take the place of learnt ones; none by default.
  public var pins = Pins()
  /// How many pushes may wake it; 3 an hour, 5 one after the other, by default.
  public var pushLimit = PushLimit()

  /// Makes a policy with the defaults of DESIGN section 4.
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

/// What a power-saver profile of the machine does to background refreshes (FEATURES D2).
public enum PowerSaver: String, Hashable, Sendable, CaseIterable {
  /// Nothing.
  case ignore
  /// A refresh must be worth four times as much.
  case dearer
  /// Nothing starts by time.
  case stop
}

/// The bounds that the administrator sets for all apps, in `refreshd.toml`.
public struct Limits: Hashable, Sendable {
  /// The shortest foreground interval, and what `minimum` means there; 5 s by default.
  public var foregroundFloor: Duration
  /// The shortest background interval, and what `minimum` means there; 15 min by default, as on iOS and in WorkManager.
  public var backgroundFloor: Duration
  /// The longest deadline that an app may ask for; 10 min by default.
  public var deadlineCap: Duration
  /// How many refreshes may run at once; nil, the default, for no bound.
  ///
  /// The daemon sets it to the number of processors unless the file says otherwise.
  public var maxConcurrent: Int?
  /// How many refreshes of one user's apps may run at once; nil, the default, for no bound but ``maxConcurrent``.
  public var maxConcurrentPerUser: Int?
  /// Whether a condition that nobody knows counts as met; yes by default.
  public var unknownIsMet = true
  /// What a power-saver profile does; makes refreshes dearer by default.
  public var powerSaver = PowerSaver.dearer
  /// The budget that the price of a refresh is steered to; `balanced` by default (FEATURES C4).
  public var profile = Profile.balanced
  /// How long nothing starts by time after boot and resume; 20 s by default (FEATURES A12).
  public var settle = Duration.seconds(20)
  /// The bounds of transfers.
  public var transfers = TransferLimits()
  /// The network on which the bridge may be connected to its sources; any by default.
  public var pushNetwork = NetworkConstraint.any

  /// Makes limits with the defaults of FEATURES A2 and B1.
  public init(
    foregroundFloor: Duration = .seconds(5), backgroundFloor: Duration = .minutes(15),
    deadlineCap: Duration = .minutes(10)
  ) {
    self.foregroundFloor = foregroundFloor
    self.backgroundFloor = backgroundFloor
    self.deadlineCap = deadlineCap
  }
}
