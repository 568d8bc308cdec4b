import RefreshEngine

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
  /// The keys of `refreshd.toml`, each with its mistake in an app's file.
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
    defer { mainKeys = Unreadable.unknownKeys(section.known, remedy: "write it into refreshd.toml") }
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
        "cannot find a user \(quoted(text)) on this machine", remedy: "write the name or number of one of /etc/passwd")
    case .silent: throw .unanswered("the user \(quoted(text))")
    }
    // systemd looks them up itself; another launcher is unknown before the start.
    if owner.groups == nil, launcher == .spawn { throw .unanswered("the groups of \(quoted(text))") }
    guard owner.uid == reader.uid || reader.canChangeUser else {
      throw Unreadable(
        "cannot run an app of \(quoted(text)): this daemon runs the apps of "
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
        "cannot find a group \(quoted(text)) on this machine", remedy: "write the name or number of one of /etc/group")
    case .silent: throw .unanswered("the group \(quoted(text))")
    }
    guard reader.canChangeUser || gid == users.user(numbered: reader.uid).gid else {
      throw Unreadable(
        "cannot run in the group \(quoted(text)): only the system's daemon, as root, can",
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
  /// The mistake if the user database, such as a directory server, does not answer about a user or a group.
  fileprivate static func unanswered(_ subject: String) -> Unreadable {
    Unreadable(
      "cannot look up \(subject): the user database has not answered for \(Patience.bound.components.seconds) s",
      remedy: "see that getent passwd answers; the file is read again then")
  }
}
