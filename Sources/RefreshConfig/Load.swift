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
  /// So a missing program, an unmounted home or an unknown owner costs no other app a refresh. A mistake in `refreshd.toml`
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

  /// How often the files are listed again if a file was removed meanwhile.
  private static let mostLists = 5

  /// Reads the files; again if a file was removed meanwhile, which is no mistake of the configuration.
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
      hasLostFile = file?.hasGone ?? false
    }
    for file in sources.appFiles(&problems) {
      do throws(Problem) {
        if let entries = try file.read() { add(AppFile(file, entries, in: context), from: file) }
      } catch {
        problemsOfApps.append(error)
        if file.hasGone { hasLostFile = true }
        guard let id = file.idOfName else {
          note(unnamed: file, error)
          continue
        }
        if apps[id] == nil { apps[id] = .unusable(id, file, error, in: context) }
      }
    }
  }

  private mutating func note(unnamed file: ConfigurationFile, _ problem: Problem) {
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
      remedy: "write what it needs into one file, and remove the other")
    problemsOfApps.append(problem)
    for id in [first.id, app.id] { apps[id]?.hold(because: "\(problem)") }
  }

  private mutating func add(_ file: AppFile, from source: ConfigurationFile) {
    problemsOfApps += file.problems
    guard let app = file.app else {
      if let problem = file.problems.first { note(unnamed: source, problem) }
      return
    }
    guard let first = apps[app.id] else {
      locations[app.id] = file.idLine.map { "\(app.file):\($0)" }
      apps[app.id] = app
      return refuseSecondGuard(app)
    }
    // Nobody knows which of the two files is meant, so neither is used.
    let problem = Problem(
      file: app.file, line: file.idLine, key: "id",
      message: "cannot have a second app \(app.id): \(locations[app.id] ?? first.file) has it",
      remedy: source.folder == first.folder
        ? "give one of them another id, or remove one"
        : "give both files one name to have that of the stronger directory in force, or remove one")
    problemsOfApps.append(problem)
    apps[app.id]?.hold(because: "\(problem)")
  }
}
