import RefreshEngine

extension Configuration {
  /// Reads a configuration, whole or not at all.
  ///
  /// The result depends only on the files, the users, groups and programs of the machine, and the reader. A call
  /// finds every mistake of every file; a single mistake refuses the configuration, so that the old one stays in force.
  public static func load(
    from sources: ConfigurationSources, as reader: Reader
  ) throws(ConfigurationError) -> Configuration {
    let context = LoadContext(reader: reader)
    var problems: [Problem] = []
    if let file = sources.mainFile() {
      do throws(Problem) {
        problems += context.read(file, try file.read() ?? [])
      } catch {
        problems.append(error)
        context.ignoreMainFile()
      }
    }
    var apps: [AppConfiguration] = []
    var locations: [AppID: String] = [:]
    for file in sources.appFiles(&problems) {
      do throws(Problem) {
        guard let entries = try file.read() else { continue }
        let read = AppFile(file, entries, in: context)
        problems += read.problems
        if let app = read.app { apps.append(app) }
        if let (id, line) = read.id {
          if let first = locations[id] { throw .secondApp(id, file, line, first: first) }
          locations[id] = "\(file.path):\(line)"
        }
      } catch {
        problems.append(error)
      }
    }
    guard problems.isEmpty else { throw ConfigurationError(problems) }
    return Configuration(
      limits: context.limits, apps: apps.sorted { $0.id < $1.id }, sessions: context.sessions,
      launcher: context.launcher, transfers: context.transfers)
  }
}

extension Problem {
  fileprivate static func secondApp(_ id: AppID, _ file: ConfigurationFile, _ line: Int, first: String) -> Problem {
    Problem(
      file: file.path, line: line, key: "id", message: "cannot have a second app \(id): \(first) has it",
      remedy: "give one of them another id, or remove one")
  }
}
