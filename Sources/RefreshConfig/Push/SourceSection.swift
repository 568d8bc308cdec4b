/// The table of one source, with what the sources have in common.
struct SourceSection {
  var section: Section
  /// The name, if it can be read.
  let name: String?
  private let home: String

  init(_ section: Section, home: String) {
    var section = section
    name = section.takeText("name", example: "home") { (text) throws(Unreadable) in
      guard (1...32).contains(text.utf8.count), text.utf8.allSatisfy(Self.isOfName) else {
        throw Unreadable(
          message: "cannot call a source \(quoted(text))",
          remedy: "write 1 to 32 small letters, digits and -")
      }
      return text
    }
    (self.section, self.home) = (section, home)
    require("name", #"name = "home""#)
  }

  /// Refuses a table that does not have the key.
  mutating func require(_ key: String, _ example: String) {
    guard !section.isWritten(key) else { return }
    section.refuse(
      key, Unreadable(message: "cannot listen to a source without \(key)", remedy: "write for example \(example)"))
  }

  /// Takes the path of a file, which may begin with `~/`.
  mutating func takePath(_ key: String, example: String) -> String? {
    section.takeText(key, example: example) { [home] (text) throws(Unreadable) in try Self.path(text, home: home) }
  }

  /// Takes the path of a file with secrets, or the bare name of a credential of the service (systemd.exec(5),
  /// `LoadCredential=`).
  mutating func takeSecretPath(_ key: String, example: String) -> String? {
    section.takeText(key, example: example) { [home] (text) throws(Unreadable) in
      let isName = !text.isEmpty && text.utf8.count <= 255 && text != "." && text != ".."
      if isName, text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7f && $0 != UInt8(ascii: "/") }) { return text }
      return try Self.path(text, home: home)
    }
  }

  private static func path(_ text: String, home: String) throws(Unreadable) -> String {
    let path = text.hasPrefix("~/") ? home + text.dropFirst(1) : text
    try TargetPath.check(path)
    return path
  }

  private static func isOfName(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): true
    default: false
    }
  }
}
