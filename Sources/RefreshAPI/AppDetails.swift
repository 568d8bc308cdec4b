extension Wire {
  /// The interval of one phase of an app.
  public struct Interval: Codable, Hashable, Sendable {
    /// The interval in force, as text.
    public let inForce: String
    /// What it comes to, `minimum` included, microseconds; absent for `never`.
    public let inForceMicroseconds: Int64?
    /// What the app's file says, or the default, as text.
    public let configured: String
    /// Whether the interval in force was set at run time (Set), in place of the file's.
    public let overridden: Bool

    /// Makes it of its parts.
    public init(inForce: String, inForceMicroseconds: Int64? = nil, configured: String, overridden: Bool) {
      self.inForce = inForce
      self.inForceMicroseconds = inForceMicroseconds
      self.configured = configured
      self.overridden = overridden
    }

    private enum CodingKeys: String, CodingKey {
      case inForce = "in_force"
      case inForceMicroseconds = "in_force_us"
      case configured
      case overridden
    }
  }

  /// Both intervals of an app.
  public struct Intervals: Codable, Hashable, Sendable {
    /// The id of the app.
    public let app: String
    /// The interval of the foreground.
    public let foreground: Interval
    /// The interval of the background.
    public let background: Interval

    /// Makes it of its parts.
    public init(app: String, foreground: Interval, background: Interval) {
      self.app = app
      self.foreground = foreground
      self.background = background
    }
  }

  /// What entering the foreground does to data that is there already.
  public enum OnForeground: String, Codable, Hashable, Sendable, CaseIterable {
    /// Refresh at once if the data is older than the foreground interval.
    case stale
    /// Refresh at once.
    case always
    /// Only start the foreground interval.
    case never
  }

  /// A task as it is configured.
  public struct Task: Codable, Hashable, Sendable {
    /// The name in the app's file, unique in the app.
    public let name: String
    /// The program with its whole path, and its arguments.
    public let command: [String]
    /// The names of the tasks that must have ended well before it starts; empty for one that starts with the refresh.
    public let after: [String]
    /// What it fetches; absent for all but the built-in kind `http`.
    public let fetch: Fetch?
    /// What it has downloaded in the background; absent for all but the built-in kind `transfer`.
    public let transfer: Fetch?

    /// Makes it of its parts.
    public init(name: String, command: [String], after: [String] = [], fetch: Fetch? = nil, transfer: Fetch? = nil) {
      self.name = name
      self.command = command
      self.after = after
      self.fetch = fetch
      self.transfer = transfer
    }
  }

  /// What a task of a built-in kind gets from a server.
  public struct Fetch: Codable, Hashable, Sendable {
    /// The URL, without user and password, and with `?…` for its query: they may be secrets.
    public let url: String
    /// The whole path of the file that it replaces.
    public let to: String

    /// Makes it of its parts.
    public init(url: String, to: String) {
      self.url = url
      self.to = to
    }
  }

  /// The refresh that is running.
  public struct Running: Codable, Hashable, Sendable {
    /// The id of the refresh.
    public let id: String
    /// Why it starts.
    public let trigger: Trigger
    /// When it started, microseconds of the wall clock.
    public let startedMicroseconds: Int64

    /// Makes it of its parts.
    public init(id: String, trigger: Trigger, startedMicroseconds: Int64) {
      self.id = id
      self.trigger = trigger
      self.startedMicroseconds = startedMicroseconds
    }

    private enum CodingKeys: String, CodingKey {
      case id
      case trigger
      case startedMicroseconds = "started_us"
    }
  }

  /// All about one app.
  public struct AppDetails: Codable, Hashable, Sendable {
    /// The id in reverse-DNS form, such as `org.example.todo`.
    public let id: String
    /// The name for people.
    public let name: String
    /// The name of the user who owns it, or the number of a user without a name.
    public let owner: String
    /// The phase that the app is in.
    public let phase: Phase
    /// What the daemon thinks of it.
    public let verdict: Verdict
    /// When the next refresh is due, microseconds of the wall clock; absent when nothing is planned.
    public let dueMicroseconds: Int64?
    /// Why the next refresh starts: its interval, or what asked for it.
    ///
    /// Absent when nothing is planned.
    public let dueTrigger: Trigger?
    /// What keeps the next refresh from starting; empty if nothing does.
    public let holds: [Hold]
    /// The refresh that is running, if one is.
    public let running: Running?
    /// When the last refresh started that did not fail, microseconds of the wall clock.
    ///
    /// Absent before the first.
    public let freshMicroseconds: Int64?
    /// The age from which the data is stale, microseconds; absent when the file does not say.
    public let staleAfterMicroseconds: Int64?
    /// Since when it is that old, microseconds of the wall clock; absent as in ``App``.
    public let staleSinceMicroseconds: Int64?
    /// The interval of the foreground.
    public let foregroundInterval: Interval
    /// The interval of the background.
    public let backgroundInterval: Interval
    /// What entering the foreground does.
    public let onForeground: OnForeground
    /// How long a refresh may take before it is stopped, microseconds.
    public let deadlineMicroseconds: Int64
    /// How long a refresh that was told to stop may take before it is killed, microseconds.
    public let graceMicroseconds: Int64
    /// In the order of the file.
    ///
    /// They run side by side, or one after the other where they say so, under the one deadline. An app without any
    /// performs its refreshes itself.
    public let tasks: [Task]
    /// The process that is attached and performs the refreshes, in the place of the tasks.
    ///
    /// Absent while none does, 0 if it is not visible to refreshd.
    public let attachedPID: Int?
    /// The file that configures the app, whole path.
    public let file: String
    /// The last refresh that ended; absent before the first.
    public let last: Refresh?

    /// Makes it of its parts.
    public init(
      id: String, name: String, owner: String, phase: Phase, verdict: Verdict, dueMicroseconds: Int64? = nil,
      dueTrigger: Trigger? = nil, holds: [Hold], running: Running? = nil, freshMicroseconds: Int64? = nil,
      staleAfterMicroseconds: Int64? = nil, staleSinceMicroseconds: Int64? = nil,
      foregroundInterval: Interval, backgroundInterval: Interval, onForeground: OnForeground,
      deadlineMicroseconds: Int64, graceMicroseconds: Int64, tasks: [Task], attachedPID: Int? = nil,
      file: String, last: Refresh? = nil
    ) {
      self.id = id
      self.name = name
      self.owner = owner
      self.phase = phase
      self.verdict = verdict
      self.dueMicroseconds = dueMicroseconds
      self.dueTrigger = dueTrigger
      self.holds = holds
      self.running = running
      self.freshMicroseconds = freshMicroseconds
      self.staleAfterMicroseconds = staleAfterMicroseconds
      self.staleSinceMicroseconds = staleSinceMicroseconds
      self.foregroundInterval = foregroundInterval
      self.backgroundInterval = backgroundInterval
      self.onForeground = onForeground
      self.deadlineMicroseconds = deadlineMicroseconds
      self.graceMicroseconds = graceMicroseconds
      self.tasks = tasks
      self.attachedPID = attachedPID
      self.file = file
      self.last = last
    }

    private enum CodingKeys: String, CodingKey {
      case id
      case name
      case owner
      case phase
      case verdict
      case dueMicroseconds = "due_us"
      case dueTrigger = "due_trigger"
      case holds
      case running
      case freshMicroseconds = "fresh_us"
      case staleAfterMicroseconds = "stale_after_us"
      case staleSinceMicroseconds = "stale_since_us"
      case foregroundInterval = "foreground_interval"
      case backgroundInterval = "background_interval"
      case onForeground = "on_foreground"
      case deadlineMicroseconds = "deadline_us"
      case graceMicroseconds = "grace_us"
      case tasks
      case attachedPID = "attached_pid"
      case file
      case last
    }
  }
}
