import RefreshEngine

/// A file of `apps.d`, read with the limits and defaults of `refreshd.toml`.
struct AppFile {
  /// The most tasks that an app may have.
  private static let mostTasks = 64
  /// The keys that are refused in `[defaults]`, each with the message for it.
  static let ownKeys = Unreadable.unknownKeys(
    ["id", "name", "owner", "kind", "unit", "guard", "pin", "desktop", "task"], remedy: "put it in an app's file")
  /// The keys of apps that are refused at the top of `refreshd.toml`, each with the message for it.
  static let keysOfDefaults = Unreadable.unknownKeys(
    AppKey.all.map(\.name) + ["directory", "environment"],
    remedy: "put it below [defaults] for all apps, or in an app's file")

  /// The app, held if the file has mistakes; nil if neither the file nor its name has an id.
  let app: AppConfiguration?
  /// The line of the app's id.
  let idLine: Int?
  let problems: [Problem]

  init(_ file: ConfigurationFile, _ entries: [Node.Entry], in load: LoadContext) {
    let isASCII = load.isASCII && entries.isASCII
    load.interner.isOff = !isASCII
    var section = Section(file: file.path, entries: entries)
    let id = Self.id(from: &section)
    idLine = section.line(of: "id")
    let name = section.read("name", Self.name)
    let owner = section.read("owner", .nameOrNumber("anna") { (text) throws(Unreadable) in try load.owner(text) })
    var settings = ConfigurationSettings(from: &section, in: load)
    let kind = AppKind(from: &section, with: settings)
    kind.apply(to: &settings, limits: load.limits)
    if kind == .guarding {
      settings.policy.guarded = GuardKeys.read(from: &section, in: load)
    } else {
      GuardKeys.refuse(in: &section, of: kind)
    }
    settings.inherit(load.defaults)
    settings.applyBackgroundFloor(in: &section)
    settings.refuseEarlyStaleness(in: &section, limits: load.limits)
    settings.policy.pins = Pins(from: &section)
    settings.desktop.ids = DesktopRules.ids(from: &section)
    settings.refuseIdleKeys(in: &section)
    let ownerInForce = owner ?? load.users.user(numbered: load.reader.uid)
    let tasks = Self.tasks(from: &section, settings.sandbox, of: ownerInForce, in: load)
    if owner == nil, !section.isWritten("owner") {
      do throws(Unreadable) { try load.checkOwnUser() } catch { section.refuse(nil, error) }
    }
    section.refuseUnknownKeys(refused: load.mainKeys, alreadyRefused: GuardKeys.names)
    if !load.reader.isUserDaemon { tasks.refuseActivation(for: ownerInForce, in: &section) }
    problems = section.problems
    guard problems.isEmpty, let id else {
      let isUnknown = owner == nil && section.isWritten("owner")
      let known = id ?? file.idOfName
      let found = section.problems
      app = known.map {
        .held($0, file, found, name: name, owner: isUnknown ? .unknown : ownerInForce, settings.policy, in: load)
      }
      return
    }
    let whenCommands = load.ownCommands(settings.whenCommand, settings, ownerInForce)
    var policy = Self.policy(settings, tasks, ownerInForce, &load.interner)
    policy.guarded?.user = ownerInForce.uid == 0 && !load.reader.isUserDaemon ? nil : ownerInForce.uid
    let ends = load.endRules(settings, ownerInForce, hasOwnPing: section.isWritten("ping"))
    policy.reportsEnds = ends?.value.wantEachEnd ?? false
    policy.constraints.whenDigest = whenCommands.first.map(OwnConditionText.digest) ?? 0
    let common = AppConfiguration.Settings(
      owner: ownerInForce, policy: policy,
      staleCommands: load.notifyCommands(
        settings.staleCommand, after: settings.policy.staleAfter, settings, ownerInForce),
      heldCommands: load.notifyCommands(settings.heldCommand, after: settings.policy.heldFor, settings, ownerInForce),
      whenCommands: whenCommands, ends: ends, desktop: settings.desktop,
      sandbox: settings.sandbox.resolved(for: ownerInForce, &load.interner),
      folder: load.interner.intern(file.folder), isASCII: isASCII)
    app = AppConfiguration(
      id, file.names(of: id, given: name), load.interner.intern(common),
      commands: load.commands(of: tasks, settings, ownerInForce))
  }

  private static func policy(
    _ settings: ConfigurationSettings, _ tasks: [TaskSection], _ owner: Owner, _ interner: inout Interner
  ) -> Policy {
    var policy = settings.policy
    policy.constraints.when = settings.whenCommand.map(OwnConditionText.words)
    policy.constraints.mounted = policy.constraints.mounted.map(owner.path)
    policy.watch = interner.intern(policy.watch)
    policy.tasks = interner.intern(tasks.policies(of: owner))
    policy.owner = owner.uid
    policy.constraints.ssids = interner.intern(policy.constraints.ssids)
    policy.constraints.deniedSSIDs = interner.intern(policy.constraints.deniedSSIDs)
    return policy
  }

  private static func tasks(
    from section: inout Section, _ sandbox: AppSandbox, of owner: Owner, in load: LoadContext
  ) -> [TaskSection] {
    // An app without tasks refreshes itself while one of its processes is attached.
    var sections = section.readTables("task", most: mostTasks, example: "[[task]], a table for each task") {
      Unreadable("cannot refresh an app with \($0) tasks", remedy: "write at most \(mostTasks) tasks")
    }
    var tasks: [TaskSection] = []
    var names: Set<String> = []
    for index in sections.indices {
      let task = TaskSection(from: &sections[index], in: load)
      if let name = task.name, !names.insert(name).inserted {
        sections[index].refuse(
          "name", "cannot name two tasks \(quoted(name))", remedy: "give each task its own name")
      }
      tasks.append(task)
    }
    // The order of the tasks follows from their names, so every name must be readable first.
    if sections.allSatisfy({ $0.problems.isEmpty }) { tasks.refuseWrongChains(in: &sections) }
    tasks.refuseSharedTargets(in: &sections)
    tasks.refuseTargets(outside: sandbox, of: owner, in: &sections)
    tasks.refuseSharedUnits(in: &sections)
    tasks.refuseTasksBesideActivation(in: &sections)
    for inner in sections { section.adopt(inner) }
    return tasks
  }

  private static var name: ValueType<String> {
    .text(
      "Todo", where: { (1...255).contains($0.utf8.count) && !$0.utf8.contains(where: \.isControl) },
      else: { "cannot name an app \(quoted($0))" }, remedy: "write 1 to 255 bytes without control characters")
  }

  private static func id(from section: inout Section) -> AppID? {
    let remedy =
      "write two or more parts of letters, digits, _ and -, none of which begins with a digit, in 255 bytes at most, "
      + #"as in "org.example.todo""#
    let type = ValueType<AppID>.text("org.example.todo") { (text) throws(Unreadable) in
      guard let id = AppID(text) else {
        throw Unreadable("cannot use \(quoted(text)) as an app id", remedy: remedy)
      }
      return id
    }
    if !section.isWritten("id") {
      section.refuse(
        "id", "the app has no id", remedy: #"write for example id = "org.example.todo""#)
    }
    return section.read("id", type)
  }
}

extension AppConfiguration {
  /// Makes an app whose file has mistakes: it has no commands, and is held until they are corrected.
  ///
  /// The settings that could be read stay, so that the app's state is judged as before.
  fileprivate static func held(
    _ id: AppID, _ file: ConfigurationFile, _ problems: [Problem], name: String?, owner: Owner, _ settings: Policy,
    in load: LoadContext
  ) -> AppConfiguration {
    var policy = settings
    policy.tasks = []
    policy.owner = owner.uid
    let more = problems.count > 1 ? " (and \(problems.count - 1) more, which refreshctl check lists)" : ""
    policy.unusable = "\(ConfigurationError(problems).problems.first?.description ?? file.path)\(more)"
    let settings = AppConfiguration.Settings(
      owner: owner, policy: policy, folder: load.interner.intern(file.folder))
    return AppConfiguration(id, file.names(of: id, given: name), Boxed(settings))
  }

  /// Makes an app whose file cannot be read, so that only the id in the file's name is known.
  static func unusable(
    _ id: AppID, _ file: ConfigurationFile, _ problem: Problem, in load: LoadContext
  ) -> AppConfiguration {
    held(id, file, [problem], name: nil, owner: .unknown, load.defaults.policy, in: load)
  }
}

extension Owner {
  /// The owner of an app whose owner is not known: a number that no user has.
  ///
  /// So no command of the app can run as root by mistake, and no user may signal for it.
  static let unknown = Owner(uid: .max - 1, gid: .max - 1, name: "unknown", home: "/")
}

extension ConfigurationFile {
  /// The id in the file's name, which is usually `ID.toml`; nil if the name has another form.
  var idOfName: AppID? { AppID(String(name.dropLast(".toml".count))) }

  /// The names of an app of this file; `given` is the file's `name`.
  fileprivate func names(of id: AppID, given: String?) -> AppConfiguration.Names {
    .init(ofApp: given, ofFile: name == "\(id).toml" ? nil : name)
  }
}

/// A file of `apps.d` that cannot be read and whose app is unknown, because its name has no id either.
public struct UnnamedFile: Hashable, Sendable {
  /// The settings of its app until the file can be read.
  let policy: Policy
  /// The directory of the file.
  let folder: String
  /// The name of the file.
  let name: String

  /// The path of the file.
  public var path: String { "\(folder)/\(name)" }
}

extension Configuration {
  /// Returns this configuration with the missing apps held, if a file that cannot be read may belong to one of them.
  ///
  /// Otherwise the daemon would forget an app that nobody has removed on purpose.
  public func keeping(_ known: some Sequence<AppID>) -> Configuration {
    guard let file = unnamed.first else { return self }
    let present = Set(apps.map(\.id))
    let settings = Boxed(AppConfiguration.Settings(owner: .unknown, policy: file.policy, folder: file.folder))
    let missing = known.filter { !present.contains($0) }.map { id in
      AppConfiguration(id, AppConfiguration.Names(ofApp: nil, ofFile: file.name), settings)
    }
    var whole = self
    whole.apps = (apps + missing).sorted { $0.id < $1.id }
    return whole
  }
}
