extension Wire {
  /// A mistake in the configuration.
  public struct Problem: Codable, Hashable, Sendable {
    /// The file or directory, whole path.
    public let file: String
    /// The line in the file, from 1, where it is known.
    public let line: Int?
    /// The column of the line, from 1; for what is not TOML.
    public let column: Int?
    /// The key that it is about, if it is about one.
    public let key: String?
    /// What is wrong, beginning "cannot".
    public let message: String
    /// What to write instead, or what to do.
    public let remedy: String

    /// Makes it of its parts.
    public init(
      file: String, line: Int? = nil, column: Int? = nil, key: String? = nil, message: String, remedy: String
    ) {
      self.file = file
      self.line = line
      self.column = column
      self.key = key
      self.message = message
      self.remedy = remedy
    }
  }

  /// The next refresh of all.
  public struct NextRefresh: Codable, Hashable, Sendable {
    /// The id of the app.
    public let app: String
    /// When it is due, microseconds of the wall clock.
    public let dueMicroseconds: Int64

    /// Makes it of its parts.
    public init(app: String, dueMicroseconds: Int64) {
      self.app = app
      self.dueMicroseconds = dueMicroseconds
    }

    private enum CodingKeys: String, CodingKey {
      case app
      case dueMicroseconds = "due_us"
    }
  }

  /// The configuration in force.
  public struct ConfigurationState: Codable, Hashable, Sendable {
    /// The directories that it was read from; a file in a later one masks a file of the same name.
    public let directories: [String]
    /// When it came into force, microseconds of the wall clock.
    public let sinceMicroseconds: Int64
    /// Why the last reload was refused; empty when the configuration in force is the newest that was read.
    public let problems: [Problem]

    /// Makes it of its parts.
    public init(directories: [String], sinceMicroseconds: Int64, problems: [Problem]) {
      self.directories = directories
      self.sinceMicroseconds = sinceMicroseconds
      self.problems = problems
    }

    private enum CodingKeys: String, CodingKey {
      case directories
      case sinceMicroseconds = "since_us"
      case problems
    }
  }

  /// The store on disk.
  public struct StoreState: Codable, Hashable, Sendable {
    /// The directory of the store, whole path.
    public let directory: String
    /// Why it cannot be written at present; absent when all is well.
    ///
    /// The daemon goes on in memory meanwhile.
    public let problem: String?

    /// Makes it of its parts.
    public init(directory: String, problem: String? = nil) {
      self.directory = directory
      self.problem = problem
    }
  }

  /// The daemon itself.
  public struct DaemonStatus: Codable, Hashable, Sendable {
    /// The version, such as `0.1.0`.
    public let version: String
    /// How often the daemon has started on its store, from 1.
    public let start: Int
    /// When it started, microseconds of the wall clock.
    public let sinceMicroseconds: Int64
    /// Whether it is a user's own daemon (`--user`) and not the system's.
    public let isUserDaemon: Bool
    /// The path of the socket that this was asked on.
    public let socket: String
    /// How tasks are started: `spawn` or `systemd`.
    public let launcher: String
    /// Why it is that launcher, a clause for a person.
    public let launcherReason: String
    /// The number of apps in the configuration.
    public let apps: Int
    /// The number of refreshes that are running.
    public let refreshing: Int
    /// The number of transfers that are being moved; absent from a daemon that knows no transfers.
    public let transferring: Int?
    /// The number of transfers that wait or are paused.
    public let transfersWaiting: Int?
    /// The next refresh of all; absent when nothing is planned.
    public let next: NextRefresh?
    /// The pause of all apps, if there is one.
    public let pause: PauseState?
    /// The configuration in force.
    public let configuration: ConfigurationState
    /// The store on disk.
    public let store: StoreState
    /// The push bridge; absent while none is connected.
    public let push: PushState?

    /// Makes it of its parts.
    public init(
      version: String, start: Int, sinceMicroseconds: Int64, isUserDaemon: Bool, socket: String, launcher: String,
      launcherReason: String, apps: Int, refreshing: Int, transferring: Int? = nil, transfersWaiting: Int? = nil,
      next: NextRefresh? = nil, pause: PauseState? = nil, configuration: ConfigurationState, store: StoreState,
      push: PushState? = nil
    ) {
      self.version = version
      self.start = start
      self.sinceMicroseconds = sinceMicroseconds
      self.isUserDaemon = isUserDaemon
      self.socket = socket
      self.launcher = launcher
      self.launcherReason = launcherReason
      self.apps = apps
      self.refreshing = refreshing
      self.transferring = transferring
      self.transfersWaiting = transfersWaiting
      self.next = next
      self.pause = pause
      self.configuration = configuration
      self.store = store
      self.push = push
    }

    private enum CodingKeys: String, CodingKey {
      case version
      case start
      case sinceMicroseconds = "since_us"
      case isUserDaemon = "is_user_daemon"
      case socket
      case launcher
      case launcherReason = "launcher_reason"
      case apps
      case refreshing
      case transferring
      case transfersWaiting = "transfers_waiting"
      case next
      case pause
      case configuration
      case store
      case push
    }
  }
}
