import RefreshEngine

/// One reading of a configuration: what the files of apps are read against, and what has been found so far.
struct Reading {
  let reader: Reader
  let accounts = Accounts()
  var programs: Programs
  var sharing = Sharing()
  var limits = Limits()
  var defaults = Settings()
  var sessions = SessionSource.none
  var launcher = LauncherChoice.auto
  var transfers = TransferSettings()
  /// The program of the built-in kinds; nil if it is not there.
  lazy var worker = reader.worker

  init(reader: Reader) {
    self.reader = reader
    programs = Programs(reader.isProgram)
  }

  /// Takes limits and defaults from `refreshd.toml`.
  mutating func read(_ file: ConfigurationFile, _ entries: [Node.Entry]) -> [Problem] {
    var section = Section(file: file.path, entries: entries)
    limits = Limits(from: &section)
    sessions = section.takeWord("sessions", example: .logind) ?? sessions
    launcher = section.takeWord("launcher", example: .spawn) ?? launcher
    transfers = TransferSettings(from: &section, limits: &limits.transfers)
    limits.takePush(from: &section)
    if var inner = section.takeTable("defaults", example: "[defaults], a table") {
      defaults = Settings(from: &inner, in: &self)
      defaults.refuseEarlyStaleness(in: &inner, limits: limits)
      inner.refuseUnknownKeys(appKeys: AppFile.ownKeys)
      section.adopt(inner)
    } else if section.isWritten("defaults") {
      defaults = .unreadable
    }
    section.refuseUnknownKeys()
    return section.problems
  }

  /// The owner of that name or number, if the daemon can run commands as that user.
  func owner(_ text: String) throws(Unreadable) -> Owner {
    guard let owner = accounts.user(text) else {
      throw Unreadable(
        message: "cannot find a user \(quoted(text)) on this machine",
        remedy: "write the name or number of one of /etc/passwd")
    }
    guard owner.uid == reader.uid || reader.canChangeUser else {
      throw Unreadable(
        message: "cannot run an app of \(quoted(text)): this daemon runs the apps of "
          + accounts.user(numbered: reader.uid).name,
        remedy: "remove the key, or install the app for the system's daemon")
    }
    return owner
  }

  /// The group of that name or number, if the daemon can run commands in it.
  func group(_ text: String) throws(Unreadable) -> UInt32 {
    guard let gid = accounts.group(text) else {
      throw Unreadable(
        message: "cannot find a group \(quoted(text)) on this machine",
        remedy: "write the name or number of one of /etc/group")
    }
    guard reader.canChangeUser || gid == accounts.user(numbered: reader.uid).gid else {
      throw Unreadable(
        message: "cannot run in the group \(quoted(text)): only the system's daemon, as root, can",
        remedy: "remove the key, or install the app for the system's daemon")
    }
    return gid
  }

  /// The command that tells of stale data, if there is one.
  mutating func tellingCommands(_ settings: Settings, _ owner: Owner) -> [Command] {
    guard settings.staleness.after ?? nil != nil, let arguments = settings.staleness.command else { return [] }
    let directory = settings.surroundings.directory.map { sharing.one(owner.path(of: $0)) }
    return sharing.one([
      Command(
        arguments: sharing.one(arguments.map { sharing.one($0) }), directory: directory,
        environment: sharing.one(settings.surroundings.environmentList), group: settings.group)
    ])
  }

  /// The commands of tasks, which have all been found to be right.
  mutating func commands(of tasks: [TaskSection], _ settings: Settings, _ owner: Owner) -> [Command] {
    sharing.one(
      tasks.map { task in
        let surroundings = task.surroundings.completed(by: settings.surroundings)
        return Command(
          arguments: sharing.one((task.arguments ?? []).map { sharing.one($0) }),
          directory: surroundings.directory.map { sharing.one(owner.path(of: $0)) },
          environment: sharing.one(surroundings.environmentList),
          group: settings.group,
          builtIn: task.builtIn?.builtIn(for: owner, &sharing))
      })
  }
}
