extension Wire {
  /// When a refresh may start.
  public struct Window: Codable, Hashable, Sendable {
    /// The first moment, microseconds of the wall clock.
    public let earliestMicroseconds: Int64
    /// The last moment, so far as nothing holds it, microseconds of the wall clock.
    public let latestMicroseconds: Int64

    /// Makes it of its parts.
    public init(earliestMicroseconds: Int64, latestMicroseconds: Int64) {
      self.earliestMicroseconds = earliestMicroseconds
      self.latestMicroseconds = latestMicroseconds
    }

    private enum CodingKeys: String, CodingKey {
      case earliestMicroseconds = "earliest_us"
      case latestMicroseconds = "latest_us"
    }
  }

  /// Hours of every day in which nothing starts by time.
  public struct QuietHours: Codable, Hashable, Sendable {
    /// When they begin, minutes of the local day.
    public let fromMinutes: Int
    /// When they end, minutes of the local day; before `from_min` when midnight lies between.
    public let toMinutes: Int

    /// Makes it of its parts.
    public init(fromMinutes: Int, toMinutes: Int) {
      self.fromMinutes = fromMinutes
      self.toMinutes = toMinutes
    }

    private enum CodingKeys: String, CodingKey {
      case fromMinutes = "from_min"
      case toMinutes = "to_min"
    }
  }

  /// Every term of the judgement about an app at this moment.
  ///
  /// The verdict is the one by which refreshes start.
  public struct Explanation: Codable, Hashable, Sendable {
    /// The id in reverse-DNS form, such as `org.example.todo`.
    public let id: String
    /// The name for people.
    public let name: String
    /// The phase that the app is in.
    public let phase: Phase
    /// What the daemon thinks of it.
    public let verdict: Verdict
    /// Why the next refresh starts; absent when none is planned.
    public let trigger: Trigger?
    /// When the next refresh may start if nothing holds it; absent when none is planned.
    public let window: Window?
    /// What keeps the next refresh from starting; empty if nothing does.
    public let holds: [Hold]
    /// The refresh that is running, if one is.
    public let running: Running?
    /// The interval of the phase; absent for `logged_out`.
    public let interval: Interval?
    /// When the last refresh started that did not fail, microseconds of the wall clock.
    ///
    /// Absent before the first.
    public let freshMicroseconds: Int64?
    /// When the interval lets the next one start, microseconds of the wall clock; absent for `never`, and before the
    /// first.
    public let floorMicroseconds: Int64?
    /// From when the data is so old that constraints no longer count, microseconds of the wall clock; absent when it
    /// never is.
    public let staleMicroseconds: Int64?
    /// Whether it is long work: only while the user is idle and on mains power, and never relaxed.
    public let isProcessing: Bool
    /// The constraints that the app has.
    public let terms: [Term]
    /// Hours in which nothing starts by time, if there are any.
    public let quiet: QuietHours?
    /// Whether a person has disabled it.
    public let isDisabled: Bool
    /// The pause of all apps, if there is one.
    public let pause: PauseState?
    /// How many refreshes in a row have failed in a way that is worth a retry.
    public let failures: Int
    /// How many of the last refreshes overran their deadline within a day.
    public let strikes: Int
    /// Until when it rests because three of them did, microseconds of the wall clock; absent when it does not.
    public let restsUntilMicroseconds: Int64?
    /// Until when nothing starts by time because of Skip, microseconds of the wall clock; absent when nothing is
    /// skipped.
    public let skippedUntilMicroseconds: Int64?
    /// Until when its server said that there is nothing newer; nil when none did, or that has passed.
    public let freshUntilMicroseconds: Int64?
    /// A refresh that was asked for with Schedule.
    public let oneShot: OneShot?
    /// Since when it is due and held, and by what; absent when it is not.
    public let waiting: Waiting?
    /// The plan of the next background refresh.
    ///
    /// Absent for an app whose interval is its schedule, and before the first.
    public let planning: Planning?
    /// What is known of the machine.
    public let conditions: Conditions
    /// The last refreshes and waits, the newest first.
    public let past: [Past]
    /// The pushes that wait, in the order in which the app gets them; absent from a daemon that knows no pushes.
    public let pushes: [PushWaiting]?
    /// The last ten that were dropped, the newest first.
    public let pushesDropped: [DroppedPush]?
    /// How often pushes may wake it, and did.
    public let pushLimit: PushLimit?

    /// Makes it of its parts.
    public init(
      id: String, name: String, phase: Phase, verdict: Verdict, trigger: Trigger? = nil, window: Window? = nil,
      holds: [Hold], running: Running? = nil, interval: Interval? = nil, freshMicroseconds: Int64? = nil,
      floorMicroseconds: Int64? = nil, staleMicroseconds: Int64? = nil, isProcessing: Bool, terms: [Term],
      quiet: QuietHours? = nil,
      isDisabled: Bool, pause: PauseState? = nil, failures: Int, strikes: Int, restsUntilMicroseconds: Int64? = nil,
      skippedUntilMicroseconds: Int64? = nil, freshUntilMicroseconds: Int64? = nil, oneShot: OneShot? = nil,
      waiting: Waiting? = nil,
      planning: Planning? = nil,
      conditions: Conditions, past: [Past], pushes: [PushWaiting]? = nil, pushesDropped: [DroppedPush]? = nil,
      pushLimit: PushLimit? = nil
    ) {
      self.id = id
      self.name = name
      self.phase = phase
      self.verdict = verdict
      self.trigger = trigger
      self.window = window
      self.holds = holds
      self.running = running
      self.interval = interval
      self.freshMicroseconds = freshMicroseconds
      self.floorMicroseconds = floorMicroseconds
      self.staleMicroseconds = staleMicroseconds
      self.isProcessing = isProcessing
      self.terms = terms
      self.quiet = quiet
      self.isDisabled = isDisabled
      self.pause = pause
      self.failures = failures
      self.strikes = strikes
      self.restsUntilMicroseconds = restsUntilMicroseconds
      self.skippedUntilMicroseconds = skippedUntilMicroseconds
      self.freshUntilMicroseconds = freshUntilMicroseconds
      self.oneShot = oneShot
      self.waiting = waiting
      self.planning = planning
      self.conditions = conditions
      self.past = past
      self.pushes = pushes
      self.pushesDropped = pushesDropped
      self.pushLimit = pushLimit
    }

    private enum CodingKeys: String, CodingKey {
      case id
      case name
      case phase
      case verdict
      case trigger
      case window
      case holds
      case running
      case interval
      case freshMicroseconds = "fresh_us"
      case floorMicroseconds = "floor_us"
      case staleMicroseconds = "stale_us"
      case isProcessing = "is_processing"
      case terms
      case quiet
      case isDisabled = "is_disabled"
      case pause
      case failures
      case strikes
      case restsUntilMicroseconds = "rests_until_us"
      case skippedUntilMicroseconds = "skipped_until_us"
      case freshUntilMicroseconds = "fresh_until_us"
      case oneShot = "one_shot"
      case waiting
      case planning
      case conditions
      case past
      case pushes
      case pushesDropped = "pushes_dropped"
      case pushLimit = "push_limit"
    }
  }
}
