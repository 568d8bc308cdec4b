/// The server that a stored position belongs to.
///
/// A source may keep its name in push.toml and get another URL or kind. The ids of one server mean nothing to another.
struct StreamOrigin: Hashable, Sendable {
  private static let digits = 16

  private let tag: String

  /// Makes the origin of a source; `kind` is `sse` or `ntfy`.
  init(_ kind: String, url: String) {
    tag = "\(kind):\(Digest.digits(Self.digits, of: url.utf8) ?? url)"
  }

  /// The line to store for a position.
  func line(_ position: String) -> String { "\(tag) \(position)" }

  /// The position in a stored line; nil if there is none, or if it is of another server.
  ///
  /// Earlier versions of the bridge stored the position alone. The line of a session with a broker has a space.
  func position(in line: String?) -> String? {
    guard let line, let space = line.firstIndex(of: " ") else { return line }
    return line[..<space] == tag ? String(line[line.index(after: space)...]) : nil
  }
}
