import RefreshEngine

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
          key, "cannot keep \(secret) in a file that everyone can read",
          remedy: "run chmod o-r on it, and let the bridge's group read it")
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
        Unreadable("cannot listen to \($0) sources of one kind", remedy: "use at most \(mostSources)")
      }
      for table in tables {
        var keys = SourceSection(table, home: home)
        let source = make(&keys)
        if let name = keys.name, !names.insert(name).inserted {
          keys.section.refuse(
            "name", "cannot name two sources \(quoted(name))", remedy: "give each source its own name")
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

/// The table of a push source, with the keys and types that all sources share.
struct SourceSection {
  var section: Section
  /// The name; nil if it is missing or refused.
  let name: String?
  private let home: String

  init(_ section: Section, home: String) {
    var section = section
    let type = ValueType<String>.text(
      "home",
      where: { name in
        (1...32).contains(name.utf8.count)
          && name.utf8.allSatisfy {
            $0.isDigit || $0 == UInt8(ascii: "-") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0)
          }
      }, else: { "cannot name a source \(quoted($0))" }, remedy: "use 1 to 32 lowercase letters, digits and -")
    name = section.read("name", type)
    (self.section, self.home) = (section, home)
    require("name", #"name = "home""#)
  }

  /// Refuses a table without the key.
  mutating func require(_ key: String, _ example: String) {
    guard !section.isWritten(key) else { return }
    section.refuse(key, "the source has no \(key)", remedy: "write for example \(example)")
  }

  /// Reads the path of a file, which may begin with `~/`.
  mutating func readPath(_ key: String, example: String) -> String? {
    section.read(key, .text(example) { [home] (text) throws(Unreadable) in try Self.path(text, home: home) })
  }

  /// Reads the path of a file with secrets, or the name of a credential of the service (systemd.exec(5),
  /// `LoadCredential=`).
  mutating func readSecretPath(_ key: String, example: String) -> String? {
    let type = ValueType<String>.text(example) { [home] (text) throws(Unreadable) in
      let isName = !text.isEmpty && text.utf8.count <= 255 && text != "." && text != ".."
      if isName, text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7f && $0 != UInt8(ascii: "/") }) { return text }
      return try Self.path(text, home: home)
    }
    return section.read(key, type)
  }

  /// Reads the table `topics` of topics by app, at most `most`, and returns the app of each topic; nil if it is refused.
  mutating func readTopics(
    example: String, most: Int, _ check: @escaping (String) throws(Unreadable) -> Void
  ) -> [String: String]? {
    var count = 0
    let topics = section.readTable("topics", example: "topics = { \"org.example.mail\" = \"\(example)\" }") { table in
      var apps: [String: String] = [:]
      count = table.keys.count
      for app in table.keys {
        let known = apps
        let topic = ValueType<String>.text(example) { (text) throws(Unreadable) in
          guard AppID(app) != nil else { throw .noAppID(app, example: "org.example.mail") }
          try check(text)
          guard known[text] == nil else {
            throw Unreadable("cannot give two apps the same topic", remedy: "give each app its own topic")
          }
          return text
        }
        if let topic = table.read(app, topic) { apps[topic] = app }
      }
      return apps
    }
    if topics != nil, !(1...most).contains(count) {
      section.refuse("topics", "cannot listen to \(count) topics", remedy: "write 1 to \(most)")
    }
    return topics
  }

  private static func path(_ text: String, home: String) throws(Unreadable) -> String {
    let path = text.hasPrefix("~/") ? home + text.dropFirst(1) : text
    try TargetPath.check(path)
    return path
  }
}
