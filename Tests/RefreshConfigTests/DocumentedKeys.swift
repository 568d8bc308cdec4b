import Foundation
import RefreshConfig
import Testing

/// A table of keys in docs/configuration.md, from which the manual pages are made.
struct DocumentedTable: Sendable, CustomTestStringConvertible {
  /// The heading above the table.
  let heading: String
  /// The file that has the keys.
  let file: String
  /// The file's text, with `@` for a line of the table.
  let text: String
  /// Keys that a sentence or a heading of their own describes.
  var others: [String] = []
  /// Whether a key that is left out is filled in by the daemon, so that its default cannot be seen in the configuration.
  var isFilledInLater = false
  /// The keys that only a guard's file may have.
  var ofOtherKinds: [String] = []
  /// Lines without which a key has no effect and is refused.
  var needs: [String: String] = [:]

  var testDescription: String { heading }

  private static let app = "id = \"a.b\"\n"
  private static let login = "name = \"home\"\n"

  static let all = [
    DocumentedTable(heading: "refreshd.toml", file: "refreshd.toml", text: "@", others: ["transfers", "push"]),
    DocumentedTable(heading: "[transfers]", file: "refreshd.toml", text: "[transfers]\n@"),
    DocumentedTable(heading: "[push]", file: "refreshd.toml", text: "[push]\n@"),
    DocumentedTable(
      heading: "The app", file: "apps.d/a.b.toml", text: app + "@\n[[task]]\nrun = [\"/usr/bin/true\"]",
      ofOtherKinds: ["guard", "unit"],
      needs: [
        "watch_settle": "watch = [\"~/Notes\"]\n", "writable": "sandbox = \"strict\"\n",
        "offline": "sandbox = \"strict\"\n",
      ]),
    DocumentedTable(
      heading: "[[task]]", file: "apps.d/a.b.toml", text: app + "[[task]]\nrun = [\"/usr/bin/true\"]\n@"),
    DocumentedTable(
      heading: "http", file: "apps.d/a.b.toml",
      text: app + "[[task]]\n[task.http]\nurl = \"https://example.org/a\"\nto = \"/srv/a\"\n@"),
    DocumentedTable(
      heading: "transfer", file: "apps.d/a.b.toml",
      text: app + "[[task]]\n[task.transfer]\nurl = \"https://example.org/a\"\nto = \"/srv/a\"\n@",
      others: ["url", "to", "headers_file", "credential_file", "netrc"], isFilledInLater: true),
    DocumentedTable(
      heading: "replicate", file: "apps.d/a.b.toml",
      text: app
        + "[[task]]\n[task.replicate]\nsource = \"https://example.org/a\"\ntarget = \"http://localhost:5984/a\"\n@"),
    DocumentedTable(heading: "[pin]", file: "apps.d/a.b.toml", text: app + "[pin]\n@"),
    DocumentedTable(
      heading: "[[ntfy]]", file: "push.toml",
      text: "[[ntfy]]\n\(login)url = \"https://example.org\"\ntopics = { \"a.b\" = \"upAbCd\" }\n@"),
    DocumentedTable(
      heading: "[[sse]]", file: "push.toml",
      text: "[[sse]]\n\(login)url = \"https://example.org\"\napp = \"a.b\"\n@"),
    DocumentedTable(
      heading: "[[mqtt]]", file: "push.toml", text: "[[mqtt]]\n\(login)host = \"broker.example.org\"\n@"),
  ]

  /// The file with a line of the table in its place.
  func text(with line: String) -> String { text.replacing("@", with: line) }

  /// The text of a page.
  static func page(_ name: String) throws -> String {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    return try String(contentsOf: root.appending(path: "docs/\(name)"), encoding: .utf8)
  }

  /// The rows of the table in the page.
  func rows() throws -> [DocumentedKey] {
    let page = try Self.page("configuration.md")
    let lines = page.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    let section = lines.drop { $0.drop { $0 == "#" } != " " + heading }.dropFirst().prefix { !$0.hasPrefix("#") }
    let table = section.drop { !$0.hasPrefix("|") }.prefix { $0.hasPrefix("|") }.map(Self.cells)
    guard let head = table.first else { return [] }
    return table.dropFirst(2).map { DocumentedKey(cells: Dictionary(zip(head, $0)) { first, _ in first }) }
  }

  private static func cells(of line: String) -> [String] {
    line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast().map {
      $0.trimmingCharacters(in: .whitespaces)
    }
  }
}

/// A row of such a table: one key, or several with the same meaning.
struct DocumentedKey {
  /// The cells by the names of their columns.
  let cells: [String: String]

  /// The keys; those of tables without their brackets.
  var keys: [String] {
    Self.code(cells["key"] ?? cells["keys"] ?? "").map { $0.filter { $0 != "[" && $0 != "]" } }
  }

  /// The default as TOML; nil for none, or for a default in words.
  var defaultValue: String? {
    guard let cell = cells["default"], cell.hasPrefix("`"), cell.hasSuffix("`") else { return nil }
    let code = Self.code(cell)
    return code.count == 1 ? code[0] : nil
  }

  /// The bounds, if there are two and nothing else.
  var bounds: DocumentedBounds? { (cells["bounds"] ?? cells["values"]).flatMap(DocumentedBounds.init) }

  /// The texts between backquotes.
  private static func code(_ text: String) -> [String] {
    text.split(separator: "`", omittingEmptySubsequences: false).enumerated().compactMap {
      $0 % 2 == 1 ? String($1) : nil
    }
  }
}
