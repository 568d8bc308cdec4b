import RefreshEngine

/// A checked configuration: the limits for all apps, and the apps.
///
/// The daemon keeps it in memory while it is in force. Equal texts, lists and owners are stored once, and settings that
/// an app leaves out use no memory.
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
  /// The mistakes in the files of held apps; empty if no file has a mistake.
  public var held: [Problem]
  /// The unreadable files whose apps are unknown; ``held`` has their mistakes.
  public var unnamed: [UnnamedFile] = []
  /// Whether the bridge's `push.toml` names sources, or has mistakes, which keep the bridge from running.
  public var namesPushSources = false

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
  /// The settings that apps of one owner often share.
  struct Settings: Hashable, Sendable {
    var owner: Owner
    var policy: Policy
    /// The command that runs when the data is stale, in an array that apps may share; empty for none.
    var staleCommands: [Command] = []
    /// The command that runs when a due refresh is held too long, likewise.
    var heldCommands: [Command] = []
    /// The command that must succeed before a refresh starts, likewise.
    var whenCommands: [Command] = []
    /// The commands and the ping for the end of a refresh; nil for none.
    var ends: Boxed<EndRules>?
    var desktop = DesktopRules()
    var sandbox = AppSandbox()
    /// The directory of the file.
    var folder: String
    /// Whether all texts of the files are ASCII.
    var isASCII = false
  }

  /// The names in the app's file, if they do not follow from the id.
  struct Names: Hashable, Sendable {
    /// The `name` in the file; nil if the file has none.
    var ofApp: String?
    /// The name of the file; nil if it is the id and `.toml`.
    var ofFile: String?
  }

  /// The app.
  public let id: AppID
  /// The command of each task, parallel to the tasks of ``policy``.
  public let commands: [Command]
  private var settings: Boxed<Settings>
  private let names: Boxed<Names>?

  init(_ id: AppID, _ names: Names, _ settings: Boxed<Settings>, commands: [Command] = []) {
    (self.id, self.settings, self.commands) = (id, settings, commands)
    self.names = names == Names() ? nil : Boxed(names)
  }

  /// The user that the app belongs to and that its commands run as.
  public var owner: Owner { settings.value.owner }
  /// The settings that the engine needs, yielded in place: a copy would retain every list in them.
  public var policy: Policy { _read { yield settings.value.policy } }
  /// The command that runs when the data is older than `stale_after`; nil for none.
  public var onStale: Command? { settings.value.staleCommands.first }
  /// The command that runs when a due refresh was held for `held_for`; nil for none.
  public var onHeld: Command? { settings.value.heldCommands.first }
  /// The command that must succeed before a refresh starts; nil for none.
  public var when: Command? { settings.value.whenCommands.first }
  /// The app's watched folders, as its file names them and with their full paths.
  public var watchedFolders: [(name: String, path: String)] {
    policy.watch.map { (name: $0, path: owner.path(of: $0)) }
  }
  /// The commands and the ping for the end of a refresh.
  public var ends: EndRules { settings.value.ends?.value ?? EndRules() }
  /// The rules for the app on its user's desktops.
  public var desktop: DesktopRules { settings.value.desktop }
  /// The sandbox of all commands.
  public var sandbox: AppSandbox { settings.value.sandbox }

  /// Whether all texts of the app's files are ASCII, so that equal apps have equal bytes.
  public var isASCII: Bool { settings.value.isASCII }

  /// The name for people: `name` of the file, else the last element of the id.
  public var name: String {
    if let name = names?.value.ofApp { return name }
    let id = id.description
    return String(id[(id.utf8.lastIndex(of: UInt8(ascii: ".")).map(id.utf8.index(after:)) ?? id.startIndex)...])
  }

  /// The directory of the app's file.
  var folder: String { settings.value.folder }

  /// The path of the app's file.
  public var file: String { "\(folder)/\(names?.value.ofFile ?? "\(id).toml")" }

  /// Holds the app for a reason, if it is not held yet.
  mutating func hold(because reason: String) {
    var held = settings.value
    held.policy.unusable = held.policy.unusable ?? reason
    settings = Boxed(held)
  }
}

/// The command of a task.
///
/// It runs without a shell, unless the file asks for one.
public struct Command: Hashable, Sendable {
  /// The directory, environment, group and built-in task of a command: most commands set none, and many share theirs.
  struct ExecSettings: Hashable, Sendable {
    var directory: String?
    var environment: [String] = []
    var group: UInt32?
    var builtIn: BuiltIn?
  }

  /// The arguments.
  ///
  /// The first is the absolute path of the program.
  public let arguments: [String]
  private let execSettings: Boxed<ExecSettings>?

  /// The working directory, an absolute path; nil for the owner's home.
  public var directory: String? { execSettings?.value.directory }
  /// The variables that the files add to the environment, each `NAME=value`, in the order of their names.
  public var environment: [String] { execSettings?.value.environment ?? [] }
  /// The group to run in; nil for the owner's own.
  public var group: UInt32? { execSettings?.value.group }
  /// The built-in task that the command performs; nil for any other command.
  public var builtIn: BuiltIn? { execSettings?.value.builtIn }

  /// Makes a command from its parts.
  public init(
    arguments: [String], directory: String? = nil, environment: [String] = [], group: UInt32? = nil,
    builtIn: BuiltIn? = nil
  ) {
    let execSettings = ExecSettings(directory: directory, environment: environment, group: group, builtIn: builtIn)
    self.init(arguments, execSettings == ExecSettings() ? nil : Boxed(execSettings))
  }

  init(_ arguments: [String], _ execSettings: Boxed<ExecSettings>?) {
    (self.arguments, self.execSettings) = (arguments, execSettings)
  }
}
