import RefreshEngine

extension Configuration {
  /// Reads a configuration, whole or not at all.
  ///
  /// It depends on nothing but the files, the users, groups and programs of the machine, and who reads. Every mistake
  /// of every file is found in one go; with a single one there is no configuration (DESIGN section 5).
  public static func load(
    from sources: ConfigurationSources, as reader: Reader
  ) throws(ConfigurationError) -> Configuration {
    var reading = Reading(reader: reader)
    var problems: [Problem] = []
    if let file = sources.mainFile() {
      do throws(Problem) {
        problems += reading.read(file, try file.read() ?? [])
      } catch {
        problems.append(error)
        reading.limits = .widest
        reading.defaults = .unreadable
      }
    }
    var apps: [AppConfiguration] = []
    var places: [AppID: String] = [:]
    for file in sources.appFiles(&problems) {
      do throws(Problem) {
        guard let entries = try file.read() else { continue }
        let read = AppFile(file, entries, in: &reading)
        problems += read.problems
        if let app = read.app { apps.append(app) }
        if let (id, line) = read.id {
          if let place = places[id] { throw .secondApp(id, file, line, first: place) }
          places[id] = "\(file.path):\(line)"
        }
      } catch {
        problems.append(error)
      }
    }
    guard problems.isEmpty else { throw ConfigurationError(problems) }
    return Configuration(
      limits: reading.limits, apps: apps.sorted { $0.id < $1.id }, sessions: reading.sessions,
      launcher: reading.launcher, transfers: reading.transfers)
  }
}

extension Problem {
  fileprivate static func secondApp(_ id: AppID, _ file: ConfigurationFile, _ line: Int, first: String) -> Problem {
    Problem(
      file: file.path, line: line, key: "id", message: "cannot have a second app \(id): \(first) has it",
      remedy: "give one of them another id, or remove one")
  }
}
