import RefreshEngine

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
      }, else: { "cannot call a source \(quoted($0))" }, remedy: "write 1 to 32 small letters, digits and -")
    name = section.read("name", type)
    (self.section, self.home) = (section, home)
    require("name", #"name = "home""#)
  }

  /// Refuses a table without the key.
  mutating func require(_ key: String, _ example: String) {
    guard !section.isWritten(key) else { return }
    section.refuse(key, "cannot listen to a source without \(key)", remedy: "write for example \(example)")
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
            throw Unreadable("cannot give two apps the same topic", remedy: "give each app a topic of its own")
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
