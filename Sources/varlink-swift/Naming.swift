/// The Swift names of declarations in the files.
enum Naming {
  /// Parts of names that Swift writes in capitals.
  private static let acronyms: Set<String> = ["id", "url", "pid", "ac", "ok"]
  private static let keywords: Set<String> = [
    "as", "break", "case", "class", "continue", "default", "defer", "do", "else", "enum", "extension", "false", "for",
    "func", "if", "import", "in", "init", "is", "let", "nil", "operator", "private", "protocol", "public", "repeat",
    "return", "self", "static", "struct", "switch", "throw", "true", "try", "var", "where", "while",
  ]

  /// Converts `deadline_us` to `deadlineMicroseconds`, and `content_id` to `contentID`; quotes keywords such as `struct`.
  static func property(_ name: String) -> String {
    var parts = name.split(separator: "_").map(String.init)
    if parts.count > 1 {
      switch parts.last {
      case "us": parts[parts.count - 1] = "microseconds"
      case "min": parts[parts.count - 1] = "minutes"
      default: break
      }
    }
    let rest = parts.dropFirst().map { acronyms.contains($0) ? $0.uppercased() : capitalised($0) }
    let property = (parts.first ?? "") + rest.joined()
    return keywords.contains(property) ? "`\(property)`" : property
  }

  /// The name of a type that is declared in place for a member.
  static func type(ofMember name: String) -> String {
    capitalised(property(name).filter { $0 != "`" })
  }

  /// Converts `org.refreshd.App` to `AppInterface`.
  static func interface(_ name: String) -> String {
    capitalised(name.split(separator: ".").last.map(String.init) ?? name) + "Interface"
  }

  private static func capitalised(_ word: String) -> String { word.prefix(1).uppercased() + word.dropFirst() }

  /// The members that need 64 bits on every machine: sizes in bytes, ids of rows, columns of the store.
  private static let wide: Set<String> = [
    "bytes", "most_bytes", "total", "rate", "max_rate", "length", "durable", "needed", "part_mark", "id", "ids",
    "forgotten", "priority", "attempts", "index",
  ]

  /// The Swift type of a whole number.
  static func integer(_ member: String) -> String {
    member.hasSuffix("_us") || wide.contains(member) ? "Int64" : "Int"
  }
}
