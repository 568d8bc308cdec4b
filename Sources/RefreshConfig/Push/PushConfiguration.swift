/// The configuration of the bridge `refresh-push`: the sources of pushes in `push.toml`.
public struct PushConfiguration: Hashable, Sendable {
  /// The sources, in the order of the file.
  public var sources: [PushSource]

  /// Makes a configuration of sources.
  public init(sources: [PushSource] = []) { self.sources = sources }

  /// Reads the complete `push.toml` in force, or throws its mistakes; without a file there are no sources.
  ///
  /// The file is searched in the directories of `refreshd.toml`. `home` is the directory for `~` in paths.
  public static func load(
    from configurationSources: ConfigurationSources, home: String
  ) throws(ConfigurationError) -> PushConfiguration {
    guard let file = configurationSources.file(named: "push.toml") else { return PushConfiguration() }
    var problems: [Problem] = []
    do throws(Problem) {
      guard let entries = try file.read() else { return PushConfiguration() }
      var section = Section(file: file.path, entries: entries)
      let sources = PushSource.read(from: &section, home: home)
      if file.isReadableByAll, let (key, secret) = sources.lazy.compactMap(\.secret).first {
        section.refuse(
          key, "cannot keep \(secret) in a file that all may read",
          remedy: "take that from it with chmod o-r, and let the bridge's group read it")
      }
      section.refuseUnknownKeys()
      problems = section.problems
      if problems.isEmpty { return PushConfiguration(sources: sources) }
    } catch {
      problems.append(error)
    }
    throw ConfigurationError(problems)
  }
}

extension Configuration {
  /// Every mistake of all files on disk, in this configuration and in the bridge's `push.toml`; then the warnings.
  public static func problems(in sources: ConfigurationSources, as reader: Reader) -> [Problem] {
    var problems: [Problem] = []
    var secrets = SecretWarnings()
    var warnings: [Problem] = []
    do throws(ConfigurationError) {
      let configuration = try load(from: sources, as: reader)
      secrets.look(at: configuration)
      warnings = UnitFiles().warnings(of: configuration) + WatchedPaths.warnings(of: configuration)
    } catch {
      problems += error.problems
    }
    let home = UserDatabase(readsGroups: false).user(numbered: reader.uid).home
    do throws(ConfigurationError) {
      let push = try PushConfiguration.load(from: sources, home: home)
      if let file = sources.file(named: "push.toml") { secrets.look(at: push, in: file.path) }
    } catch {
      problems += error.problems
    }
    return problems + secrets.warnings + warnings + MisplacedFiles.warnings(in: sources)
  }
}

/// A source of pushes.
public enum PushSource: Hashable, Sendable {
  /// An ntfy server.
  case ntfy(NtfySettings)
  /// A stream of server-sent events.
  case sse(EventStreamSettings)
  /// An MQTT broker.
  case mqtt(BrokerSettings)

  /// The most sources of one kind.
  private static let mostSources = 64

  /// The unique name.
  public var name: String {
    switch self {
    case .ntfy(let settings): settings.name
    case .sse(let settings): settings.name
    case .mqtt(let settings): settings.name
    }
  }

  /// The secret part of the settings, with its key; nil for none.
  fileprivate var secret: (key: String, description: String)? {
    switch self {
    case .ntfy(let settings) where !settings.topics.isEmpty: ("ntfy", "topics, which are secrets,")
    case .sse(let settings) where settings.url.hasLogin: ("sse", "a password")
    default: nil
    }
  }

  /// Reads all sources of the document.
  fileprivate static func read(from section: inout Section, home: String) -> [PushSource] {
    var names: Set<String> = []
    var sources: [(line: Int, source: PushSource)] = []
    func read(_ kind: String, _ make: (inout SourceSection) -> PushSource?) {
      let tables = section.readTables(kind, most: mostSources, example: "[[\(kind)]], a table for each") {
        Unreadable("cannot listen to \($0) sources of a kind", remedy: "write \(mostSources) at most")
      }
      for table in tables {
        var keys = SourceSection(table, home: home)
        let source = make(&keys)
        if let name = keys.name, !names.insert(name).inserted {
          keys.section.refuse(
            "name", "cannot have two sources \(quoted(name))", remedy: "give each source a name of its own")
        }
        keys.section.refuseUnknownKeys()
        section.adopt(keys.section)
        if let source, keys.section.problems.isEmpty { sources.append((table.line ?? 0, source)) }
      }
    }
    read("ntfy") { NtfySettings(from: &$0).map(PushSource.ntfy) }
    read("sse") { EventStreamSettings(from: &$0).map(PushSource.sse) }
    read("mqtt") { BrokerSettings(from: &$0).map(PushSource.mqtt) }
    return sources.sorted { $0.line < $1.line }.map(\.source)
  }
}
