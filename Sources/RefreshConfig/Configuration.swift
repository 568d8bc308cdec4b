import RefreshEngine

/// What the files say, checked: the bounds for all apps, and the apps.
///
/// It is kept in memory for as long as it is in force, so equal texts, lists and owners are stored once, and what an
/// app leaves out takes no room.
public struct Configuration: Hashable, Sendable {
  /// The bounds of `refreshd.toml`.
  public var limits: Limits
  /// The apps, in the order of their ids.
  public var apps: [AppConfiguration]
  /// Who says when the owner of an app logs in and out.
  public var sessions: SessionSource
  /// What starts the tasks.
  public var launcher: LauncherChoice
  /// What `[transfers]` says and is not among the limits.
  public var transfers: TransferSettings

  /// Makes a configuration; `apps` are sorted by id.
  public init(
    limits: Limits = Limits(), apps: [AppConfiguration] = [], sessions: SessionSource = .none,
    launcher: LauncherChoice = .auto, transfers: TransferSettings = TransferSettings()
  ) {
    self.limits = limits
    self.apps = apps
    self.sessions = sessions
    self.launcher = launcher
    self.transfers = transfers
  }
}

/// What starts the tasks of refreshes: the words of `launcher` (FEATURES B5).
public enum LauncherChoice: String, Hashable, Sendable, CaseIterable {
  /// systemd where it is there for this daemon, else the daemon itself.
  case auto
  /// systemd, as transient services.
  case systemd
  /// The daemon itself, as its children.
  case spawn
}

/// Who says when the owner of an app logs in and out: the words of `sessions` (FEATURES A9).
public enum SessionSource: String, Hashable, Sendable, CaseIterable {
  /// Only the signals `login` and `logout`.
  case none
  /// Also the sessions of systemd-logind (org.freedesktop.login1(5)).
  case logind
}

/// One app's file, checked and completed by `[defaults]`.
public struct AppConfiguration: Hashable, Sendable {
  /// The app.
  public let id: AppID
  /// Whose app it is: the user that its commands run as.
  public let owner: Owner
  /// What the engine needs to know.
  public let policy: Policy
  /// The command of each task, parallel to the tasks of ``policy``.
  public let commands: [Command]
  /// The command that tells of stale data, in a list of one that many apps may share; empty for none.
  let tellingCommands: [Command]
  /// What is taken away from all its commands, as properties of their units; empty for nothing.
  public let sandbox: [SandboxProperty]
  /// The name that the file gives, if it gives one.
  let givenName: String?
  /// The directory of the file, one string for all files in it.
  let folder: String
  /// The file's name, nil where it is the id and `.toml`.
  let fileName: String?

  /// What runs when the data is older than the file wants it to be (FEATURES D8); nil when nothing does.
  public var onStale: Command? { tellingCommands.first }

  /// What people call the app: `name` of the file, else the last element of the id.
  public var name: String { givenName ?? String(id.description.split(separator: ".").last ?? "") }

  /// The path of the file that it comes from.
  public var file: String { "\(folder)/\(fileName ?? "\(id).toml")" }
}

/// What a task runs: no shell, unless the file asks for one (FEATURES B3).
public struct Command: Hashable, Sendable {
  /// The arguments, the first of which is the absolute path of the program.
  public let arguments: [String]
  /// The working directory, an absolute path; nil for the owner's home.
  public let directory: String?
  /// What the files add to the environment, each `NAME=value`, in the order of the names.
  public let environment: [String]
  /// The group to run in; nil for the owner's own.
  public let group: UInt32?
  /// The built-in kind that it is, whose order it reads on standard input; nil for all other commands.
  public let builtIn: BuiltIn?

  /// Makes a command of its parts.
  public init(
    arguments: [String], directory: String? = nil, environment: [String] = [], group: UInt32? = nil,
    builtIn: BuiltIn? = nil
  ) {
    self.arguments = arguments
    self.directory = directory
    self.environment = environment
    self.group = group
    self.builtIn = builtIn
  }

  /// What it fetches within the refresh; nil for all but the built-in kind `http`.
  public var fetch: Fetch? {
    if case .http(let fetch) = builtIn { fetch } else { nil }
  }

  /// What it has downloaded in the background; nil for all but the built-in kind `transfer`.
  public var download: Download? {
    if case .transfer(let download) = builtIn { download } else { nil }
  }
}
