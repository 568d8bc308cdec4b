import RefreshEngine

extension Configuration {
  /// Reads a complete configuration, or throws every mistake.
  ///
  /// The result depends only on the files, the machine's users, groups and programs, and the reader. A single mistake
  /// refuses the configuration, so that the old one stays in force.
  public static func load(
    from sources: ConfigurationSources, as reader: Reader
  ) throws(ConfigurationError) -> Configuration {
    let files = ReadFiles.read(sources, reader)
    let problems = files.problems + files.problemsOfApps
    guard problems.isEmpty else { throw ConfigurationError(problems) }
    return files.configuration
  }

  /// Reads a configuration for a daemon without one in force: a mistake in an app's file holds that app only.
  ///
  /// So a missing program, an unmounted home or an unknown owner does not stop the other apps. A mistake in `refreshd.toml`
  /// or in a directory still refuses the configuration, because it concerns every app.
  public static func loadAtStart(
    from sources: ConfigurationSources, as reader: Reader
  ) throws(ConfigurationError) -> Configuration {
    let files = ReadFiles.read(sources, reader)
    guard files.problems.isEmpty else { throw ConfigurationError(files.problems + files.problemsOfApps) }
    return files.configuration
  }
}

/// The files of a configuration and the mistakes in them.
private struct ReadFiles {
  /// The mistakes of `refreshd.toml` and of the directories.
  private(set) var problems: [Problem] = []
  /// The mistakes of the apps' files.
  private(set) var problemsOfApps: [Problem] = []
  private var apps: [AppID: AppConfiguration] = [:]
  private var unnamed: [UnnamedFile] = []
  /// The place of each app's id, for the message about a second one.
  private var locations: [AppID: String] = [:]
  /// The app that guards each unit, by its description.
  private var guards: [String: AppID] = [:]
  private let context: LoadContext
  /// Whether `push.toml` has sources, or mistakes, which only the bridge reports.
  private var namesPushSources = false
  /// Whether a file was removed after it was listed.
  private var hasLostFile = false

  /// How many times the files are listed at most, because one was removed while they were read.
  private static let mostLists = 5

  /// Reads the files, and reads them again if one was removed in between, because that is not a mistake.
  static func read(_ sources: ConfigurationSources, _ reader: Reader) -> ReadFiles {
    for _ in 1..<mostLists {
      let files = ReadFiles(sources, reader)
      if !files.hasLostFile { return files }
    }
    return ReadFiles(sources, reader)
  }

  private init(_ sources: ConfigurationSources, _ reader: Reader) {
    context = LoadContext(reader: reader)
    do throws(ConfigurationError) {
      namesPushSources = try !PushConfiguration.load(from: sources, home: "/").sources.isEmpty
    } catch {
      namesPushSources = true
    }
    let file = sources.mainFile()
    do throws(Problem) {
      problems += context.read(file, try file?.read() ?? [])
    } catch {
      problems.append(error)
      context.ignoreMainFile()
      hasLostFile = file?.isGone ?? false
    }
    for file in sources.appFiles(&problems) {
      do throws(Problem) {
        if let entries = try file.read() { add(AppFile(file, entries, in: context), from: file) }
      } catch {
        problemsOfApps.append(error)
        if file.isGone { hasLostFile = true }
        guard let id = file.idOfName else {
          remember(unnamed: file, error)
          continue
        }
        if apps[id] == nil { apps[id] = .unusable(id, file, error, in: context) }
      }
    }
  }

  private mutating func remember(unnamed file: ConfigurationFile, _ problem: Problem) {
    var policy = context.defaults.policy
    policy.tasks = []
    policy.owner = Owner.unknown.uid
    policy.unusable = problem.description
    unnamed.append(UnnamedFile(policy: policy, folder: context.interner.intern(file.folder), name: file.name))
  }

  /// The configuration, in which the apps whose files have mistakes are held.
  var configuration: Configuration {
    var configuration = Configuration(
      limits: context.limits, apps: apps.values.sorted { $0.id < $1.id }, sessions: context.sessions,
      launcher: context.launcher, transfers: context.transfers, held: ConfigurationError(problemsOfApps).problems)
    configuration.unnamed = unnamed
    configuration.namesPushSources = namesPushSources
    return configuration
  }

  /// Holds two apps that guard the same unit: each would start the unit that the other has stopped.
  private mutating func refuseSecondGuard(_ app: AppConfiguration) {
    guard let unit = app.policy.guarded, app.policy.unusable == nil else { return }
    guard let first = guards[unit.description].flatMap({ apps[$0] }) else { return guards[unit.description] = app.id }
    let problem = Problem(
      file: app.file, key: "unit", message: "cannot guard \(unit.name) twice: \(first.file) guards it",
      remedy: "put its conditions in one file, and remove the other")
    problemsOfApps.append(problem)
    for id in [first.id, app.id] { apps[id]?.hold(because: "\(problem)") }
  }

  private mutating func add(_ file: AppFile, from source: ConfigurationFile) {
    problemsOfApps += file.problems
    guard let app = file.app else {
      if let problem = file.problems.first { remember(unnamed: source, problem) }
      return
    }
    guard let first = apps[app.id] else {
      locations[app.id] = file.idLine.map { "\(app.file):\($0)" }
      apps[app.id] = app
      return refuseSecondGuard(app)
    }
    // It is unknown which of the two files is meant, so neither is used.
    let problem = Problem(
      file: app.file, line: file.idLine, key: "id",
      message: "cannot use the id \(app.id) twice: \(locations[app.id] ?? first.file) has it already",
      remedy: source.folder == first.folder
        ? "give one of them another id, or remove one"
        : "give both files the same name, so that the stronger directory wins, or remove one")
    problemsOfApps.append(problem)
    apps[app.id]?.hold(because: "\(problem)")
  }
}

/// The state of one load of a configuration: the limits and defaults for apps, and the values found so far.
final class LoadContext {
  let reader: Reader
  let users: UserDatabase
  let programs: Programs
  var interner = Interner()
  var limits = Limits()
  var defaults = ConfigurationSettings(limits: Limits())
  var sessions = SessionSource.none
  var launcher = LauncherChoice.auto
  var transfers = TransferSettings()
  /// The path of `refreshd.toml`, or its name if it is missing.
  private(set) var mainFile = "refreshd.toml"
  /// The keys of `refreshd.toml` that are refused in an app's file, each with the message for it.
  private(set) var mainKeys: [String: Unreadable] = [:]
  /// Whether all texts of `refreshd.toml` are ASCII.
  private(set) var isASCII = true
  /// The path of refresh-worker; nil if it is not installed.
  private(set) lazy var worker = reader.worker

  init(reader: Reader) {
    self.reader = reader
    users = UserDatabase(readsGroups: reader.canChangeUser)
    programs = Programs(reader.isProgram)
  }

  /// Reads limits and defaults from `refreshd.toml`, which may be missing.
  func read(_ file: ConfigurationFile?, _ entries: [Node.Entry]) -> [Problem] {
    mainFile = file?.path ?? mainFile
    isASCII = entries.isASCII
    interner.isOff = !isASCII
    var section = Section(file: mainFile, entries: entries)
    defer { mainKeys = Unreadable.unknownKeys(section.known, remedy: "put it in refreshd.toml") }
    limits = Limits(from: &section)
    sessions = section.read("sessions", .word(.logind)) ?? sessions
    launcher = section.read("launcher", .word(.spawn)) ?? launcher
    transfers = TransferSettings(from: &section, limits: &limits.transfers)
    let defaults = section.readTable("defaults", example: "[defaults], a table", refused: AppFile.ownKeys) {
      let defaults = ConfigurationSettings(from: &$0, in: self)
      defaults.refuseEarlyStaleness(in: &$0, limits: limits)
      return defaults
    }
    self.defaults = defaults ?? (section.isWritten("defaults") ? .unreadable : self.defaults)
    section.refuseUnknownKeys(refused: AppFile.ownKeys.merging(AppFile.keysOfDefaults) { own, _ in own })
    return section.problems
  }

  /// Uses the widest limits and no defaults, because `refreshd.toml` cannot be read.
  func ignoreMainFile() {
    limits = .widest
    defaults = .unreadable
  }

  /// The owner with that name or number, if the daemon can run commands as that user.
  func owner(_ text: String) throws(Unreadable) -> Owner {
    let owner: Owner
    switch users.user(text) {
    case .found(let user): owner = user
    case .missing:
      throw Unreadable(
        "cannot find a user \(quoted(text)) on this machine", remedy: "write a name or number from /etc/passwd")
    case .silent: throw .unanswered("the user \(quoted(text))")
    }
    // systemd looks up groups itself, and `auto` may turn out to be systemd.
    if owner.groups == nil, launcher == .spawn { throw .unanswered("the groups of \(quoted(text))") }
    guard owner.uid == reader.uid || reader.canChangeUser else {
      throw Unreadable(
        "cannot run an app of \(quoted(text)): this daemon runs only the apps of "
          + users.user(numbered: reader.uid).name,
        remedy: "remove the key, or install the app for the system's daemon")
    }
    return owner
  }

  /// Checks that the user database answers about the daemon's own user, who owns the apps without `owner`.
  func checkOwnUser() throws(Unreadable) {
    if case .silent = users.user("\(reader.uid)") { throw .unanswered("the user \(reader.uid)") }
  }

  /// The group with that name or number, if the daemon can run commands in it.
  func group(_ text: String) throws(Unreadable) -> UInt32 {
    let gid: UInt32
    switch users.group(text) {
    case .found(let group): gid = group
    case .missing:
      throw Unreadable(
        "cannot find a group \(quoted(text)) on this machine", remedy: "write a name or number from /etc/group")
    case .silent: throw .unanswered("the group \(quoted(text))")
    }
    guard reader.canChangeUser || gid == users.user(numbered: reader.uid).gid else {
      throw Unreadable(
        "cannot run in the group \(quoted(text)): only the system's daemon, which runs as root, can",
        remedy: "remove the key, or install the app for the system's daemon")
    }
    return gid
  }

  /// The command for stale data or a held refresh, in a list of one; empty for none.
  func notifyCommands(
    _ arguments: [String]?, after span: Duration?, _ settings: ConfigurationSettings, _ owner: Owner
  ) -> [Command] {
    span == nil ? [] : ownCommands(arguments, settings, owner)
  }

  /// A command of the app's file besides its tasks, in a list of one; empty for none.
  func ownCommands(_ arguments: [String]?, _ settings: ConfigurationSettings, _ owner: Owner) -> [Command] {
    guard let arguments else { return [] }
    return interner.intern([command(arguments, in: settings.context, settings, owner)])
  }

  func commands(of tasks: [TaskSection], _ settings: ConfigurationSettings, _ owner: Owner) -> [Command] {
    let commands = tasks.map { task in
      command(task.arguments ?? [], in: task.context.completed(by: settings.context), settings, owner, task.builtIn)
    }
    return interner.intern(commands)
  }

  private func command(
    _ arguments: [String], in context: ExecContext, _ settings: ConfigurationSettings, _ owner: Owner,
    _ builtIn: BuiltIn? = nil
  ) -> Command {
    let execSettings = Command.ExecSettings(
      directory: context.directory.map { interner.intern(owner.path(of: $0)) },
      environment: interner.intern(context.environmentList), group: settings.group,
      builtIn: builtIn?.resolved(for: owner, by: reader, &interner))
    return Command(interner.intern(arguments.map { interner.intern($0) }), interner.intern(execSettings))
  }
}

extension Unreadable {
  /// The message when the user database, which may be a directory server, does not answer about a user or group.
  fileprivate static func unanswered(_ subject: String) -> Unreadable {
    Unreadable(
      "cannot look up \(subject): the user database has not answered for \(Patience.bound.components.seconds) s",
      remedy: "check that getent passwd answers; then the file is read again")
  }
}

/// Keeps one copy of each value that several apps of a configuration share.
///
/// A thousand apps often have the same settings, tasks, environment and directory. Equal values share one buffer or box.
struct Interner {
  /// Whether values stay as they are.
  ///
  /// Texts that are equal in Swift may differ in their bytes ("é" has two forms), and name different files. Only ASCII
  /// texts are equal exactly if their bytes are.
  var isOff = false
  private var texts: Set<String> = []
  private var lists: Set<[String]> = []
  private var tasks: Set<[TaskPolicy]> = []
  private var commands: Set<[Command]> = []
  private var settings: Set<Boxed<AppConfiguration.Settings>> = []
  private var execSettings: Set<Boxed<Command.ExecSettings>> = []

  mutating func intern(_ text: String) -> String { isOff ? text : texts.insert(text).memberAfterInsert }
  mutating func intern(_ list: [String]) -> [String] { isOff ? list : lists.insert(list).memberAfterInsert }
  mutating func intern(_ list: [TaskPolicy]) -> [TaskPolicy] { isOff ? list : tasks.insert(list).memberAfterInsert }
  mutating func intern(_ list: [Command]) -> [Command] { isOff ? list : commands.insert(list).memberAfterInsert }
  mutating func intern(_ value: AppConfiguration.Settings) -> Boxed<AppConfiguration.Settings> {
    isOff ? Boxed(value) : settings.insert(Boxed(value)).memberAfterInsert
  }
  /// The box of the settings; nil if none is set.
  mutating func intern(_ value: Command.ExecSettings) -> Boxed<Command.ExecSettings>? {
    if value == Command.ExecSettings() { return nil }
    return isOff ? Boxed(value) : execSettings.insert(Boxed(value)).memberAfterInsert
  }
}
