/// What `push.toml` says: where the bridge `refresh-push` gets pushes from (FEATURES E4).
public struct PushConfiguration: Hashable, Sendable {
  /// The sources, in the order of the file.
  public var sources: [PushSource]

  /// Makes a configuration of sources.
  public init(sources: [PushSource] = []) { self.sources = sources }

  /// Reads the `push.toml` that is in force, whole or not at all; where there is none, there are no sources.
  ///
  /// It is looked for where `refreshd.toml` is. `home` is the directory for which `~` stands in paths.
  public static func load(
    from configurationSources: ConfigurationSources, home: String
  ) throws(ConfigurationError) -> PushConfiguration {
    guard let file = configurationSources.file(named: "push.toml") else { return PushConfiguration() }
    var problems: [Problem] = []
    do throws(Problem) {
      guard let entries = try file.read() else { return PushConfiguration() }
      var section = Section(file: file.path, entries: entries)
      let sources = PushSource.take(from: &section, home: home)
      if file.isReadableByAll, let (key, what) = sources.lazy.compactMap(\.secret).first {
        section.refuse(
          key,
          Unreadable(
            message: "cannot keep \(what) in a file that all may read",
            remedy: "take that from it with chmod o-r, and let the bridge's group read it"))
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
  /// Every mistake of all files on disk: of this configuration, and of the bridge's `push.toml` beside it.
  public static func problems(in sources: ConfigurationSources, as reader: Reader) -> [Problem] {
    var problems: [Problem] = []
    do throws(ConfigurationError) { _ = try load(from: sources, as: reader) } catch { problems += error.problems }
    let home = Accounts().user(numbered: reader.uid).home
    do throws(ConfigurationError) {
      _ = try PushConfiguration.load(from: sources, home: home)
    } catch {
      problems += error.problems
    }
    return problems
  }
}

/// One source of pushes.
public enum PushSource: Hashable, Sendable {
  /// A server of ntfy.
  case ntfy(NtfySettings)
  /// A stream of server-sent events.
  case sse(EventStreamSettings)
  /// A broker of MQTT.
  case mqtt(BrokerSettings)

  /// Its name, which no other has.
  public var name: String {
    switch self {
    case .ntfy(let settings): settings.name
    case .sse(let settings): settings.name
    case .mqtt(let settings): settings.name
    }
  }

  /// What of it others must not read, and the key that says it; nil for nothing.
  fileprivate var secret: (key: String, what: String)? {
    switch self {
    case .ntfy(let settings) where !settings.topics.isEmpty: ("ntfy", "topics, which are secrets,")
    case .sse(let settings) where settings.url.hasLogin: ("sse", "a password")
    default: nil
    }
  }

  /// Takes all sources out of the document.
  fileprivate static func take(from section: inout Section, home: String) -> [PushSource] {
    var names: Set<String> = []
    var sources: [(line: Int, source: PushSource)] = []
    func read(_ kind: String, _ make: (inout SourceSection) -> PushSource?) {
      for table in section.takeTables(kind) {
        var keys = SourceSection(table, home: home)
        let source = make(&keys)
        if let name = keys.name, !names.insert(name).inserted {
          keys.section.refuse(
            "name",
            Unreadable(
              message: "cannot have two sources \(quoted(name))", remedy: "give each source a name of its own"))
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

extension Section {
  /// The most sources of one kind.
  private static let mostSources = 64

  /// Takes an array of tables, each of which is then to be read and its problems adopted.
  fileprivate mutating func takeTables(_ key: String) -> [Section] {
    let nodes = take(key, example: "[[\(key)]], a table for each") { (node) throws(Unreadable) in
      guard case .array(let elements) = node.value else { return [(line: Int, entries: [Node.Entry])]?.none }
      guard elements.count <= Self.mostSources else {
        throw Unreadable(
          message: "cannot listen to \(elements.count) sources of a kind", remedy: "write \(Self.mostSources) at most")
      }
      var tables: [(line: Int, entries: [Node.Entry])] = []
      for element in elements {
        guard case .table(let entries) = element.value else { return nil }
        tables.append((element.line, entries))
      }
      return tables
    }
    return (nodes?.value ?? []).map { inner(key, line: $0.line, entries: $0.entries) }
  }
}
