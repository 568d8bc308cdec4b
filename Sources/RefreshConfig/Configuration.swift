import RefreshEngine

/// A checked configuration: the limits for all apps, and the apps.
///
/// The daemon keeps it in memory while it is in force. Equal texts, lists and owners are stored once, and settings that
/// an app leaves out take no room.
public struct Configuration: Hashable, Sendable {
  /// The limits of `refreshd.toml`.
  public var limits: Limits
  /// The apps, in the order of their ids.
  public var apps: [AppConfiguration]
  /// The source of logins and logouts of the apps' owners.
  public var sessions: SessionSource
  /// The launcher of tasks.
  public var launcher: LauncherChoice
  /// The settings of `[transfers]` that are not among the limits.
  public var transfers: TransferSettings
  /// The mistakes in the files of the apps that are held; none in a configuration that was read as a whole.
  public var held: [Problem]
  /// The files that cannot be read and of which nothing says which apps they are of; their mistakes are in ``held``.
  public var unnamed: [UnnamedFile] = []

  /// Makes a configuration; `apps` are sorted by id.
  public init(
    limits: Limits = Limits(), apps: [AppConfiguration] = [], sessions: SessionSource = .none,
    launcher: LauncherChoice = .auto, transfers: TransferSettings = TransferSettings(), held: [Problem] = []
  ) {
    self.limits = limits
    self.apps = apps
    self.sessions = sessions
    self.launcher = launcher
    self.transfers = transfers
    self.held = held
  }
}

/// The launcher of tasks: the values of `launcher`.
public enum LauncherChoice: String, Hashable, Sendable, CaseIterable {
  /// systemd if it serves this daemon, else the daemon itself.
  case auto
  /// systemd, as transient services.
  case systemd
  /// The daemon itself, as child processes.
  case spawn
}

/// The source of logins and logouts of the apps' owners: the values of `sessions`.
public enum SessionSource: String, Hashable, Sendable, CaseIterable {
  /// Only the signals `login` and `logout`.
  case none
  /// Also the sessions of systemd-logind (org.freedesktop.login1(5)).
  case logind
}

/// The configuration of one app: its file, checked and completed by `[defaults]`.
public struct AppConfiguration: Hashable, Sendable {
  /// The app.
  public let id: AppID
  /// The user that the app belongs to and that its commands run as.
  public let owner: Owner
  /// The settings that the engine needs.
  public internal(set) var policy: Policy
  /// The command of each task, parallel to the tasks of ``policy``.
  public let commands: [Command]
  /// The command that runs when the data is stale, in a list of one that many apps may share; empty for none.
  let staleCommands: [Command]
  /// The restrictions on all commands, as properties of their units; empty for none.
  public let sandbox: [SandboxProperty]
  /// The name in the file; nil if the file has none.
  let givenName: String?
  /// The directory of the file, one string for all files in it.
  let folder: String
  /// The name of the file; nil if it is the id and `.toml`.
  let fileName: String?

  /// The command that runs when the data is older than `stale_after`; nil for none.
  public var onStale: Command? { staleCommands.first }

  /// The name for people: `name` of the file, else the last element of the id.
  public var name: String { givenName ?? String(id.description.split(separator: ".").last ?? "") }

  /// The path of the app's file.
  public var file: String { "\(folder)/\(fileName ?? "\(id).toml")" }
}

/// The command of a task.
///
/// It runs without a shell, unless the file asks for one.
public struct Command: Hashable, Sendable {
  /// The arguments.
  ///
  /// The first is the absolute path of the program.
  public let arguments: [String]
  /// The working directory, an absolute path; nil for the owner's home.
  public let directory: String?
  /// The variables that the files add to the environment, each `NAME=value`, in the order of their names.
  public let environment: [String]
  /// The group to run in; nil for the owner's own.
  public let group: UInt32?
  /// The built-in task that the command performs; nil for any other command.
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

  /// The built-in task if it fetches a file within the refresh (`http`).
  public var fetch: BuiltIn? {
    if case .fetch = builtIn?.work { builtIn } else { nil }
  }

  /// The built-in task if it starts a background transfer (`transfer`).
  public var download: BuiltIn? {
    if case .download = builtIn?.work { builtIn } else { nil }
  }
}
