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

  private static func path(_ text: String, home: String) throws(Unreadable) -> String {
    let path = text.hasPrefix("~/") ? home + text.dropFirst(1) : text
    try TargetPath.check(path)
    return path
  }
}
