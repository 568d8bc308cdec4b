/// Builds lines of Swift code.
struct SwiftSource {
  private(set) var lines: [String] = []
  private var level = 0

  private var indent: String { String(repeating: "  ", count: level) }

  /// The text of a file.
  var text: String { lines.joined(separator: "\n") + "\n" }

  mutating func line(_ line: String = "") { lines.append(line.isEmpty ? "" : indent + line) }

  mutating func comment(_ comment: String) { lines += Documentation.lines(comment, indent: indent) }

  /// A block in braces.
  mutating func block(_ head: String, _ body: (inout SwiftSource) -> Void) {
    line("\(head) {")
    level += 1
    body(&self)
    level -= 1
    line("}")
  }

  /// Appends lines unchanged, such as those of a text literal.
  mutating func verbatim(_ text: String) { lines.append(text) }
}
