import RefreshAPI
import RefreshEngine

/// A table of a file, read key by key, so that one pass finds every mistake in the table and its line.
///
/// Every key that is read becomes a known key. ``refuseUnknownKeys(refused:alreadyRefused:)`` refuses all others.
struct Section {
  /// The path of the file.
  let file: String
  /// The table's name and a point, empty for the document.
  let prefix: String
  /// The line where the table begins, nil for the document.
  let line: Int?
  private(set) var problems: [Problem] = []
  private let entries: [Node.Entry]
  /// The keys that were read, whether the table has them or not.
  private(set) var known: [String] = []
  /// The known keys of the surrounding table.
  private var knownOutside: [String] = []
  /// The known keys of the inner tables.
  private var knownInside: [(table: String, keys: [String])] = []

  /// Makes a document.
  init(file: String, entries: [Node.Entry]) {
    (self.file, prefix, line, self.entries) = (file, "", nil, entries)
  }

  private init(_ name: String, line: Int, _ entries: [Node.Entry], in outer: Section) {
    (file, prefix, self.line, self.entries) = (outer.file, "\(outer.prefix)\(name).", line, entries)
    knownOutside = outer.known
  }

  /// The keys of the table, in the order of their bytes.
  var keys: [String] { entries.map(\.key) }

  /// Whether the table has the key, with a valid value or not.
  func isWritten(_ key: String) -> Bool { entry(key) != nil }

  /// The line of the key; nil if the table does not have it.
  func line(of key: String) -> Int? { entry(key)?.node.line }

  private func entry(_ key: String) -> Node.Entry? { entries.first { $0.key == key } }

  // MARK: Reading

  /// Adds known keys that are read only if they are written, so that they are suggested for a mistyped key.
  mutating func know(_ keys: [String]) { known += keys }

  /// Reads the value of a key; nil if the table does not have the key, or if the value is refused.
  mutating func read<Value>(_ key: String, _ type: @autoclosure () -> ValueType<Value>) -> Value? {
    guard let node = node(of: key) else { return nil }
    let type = type()
    return value(of: key, node, example: "\(key) = \(type.example)") { (node) throws(Unreadable) in
      try type.read(node, key)
    }
  }

  /// Reads an inner table with `body`, and refuses the keys that `body` did not read; nil if there is no table.
  ///
  /// `refused` has the reasons for some of these keys.
  mutating func readTable<Result>(
    _ key: String, example: String, refused: [String: Unreadable] = [:], _ body: (inout Section) -> Result
  ) -> Result? {
    guard let node = node(of: key),
      let entries = value(
        of: key, node, example: example,
        { node in if case .table(let entries) = node.value { entries } else { nil } })
    else { return nil }
    var table = Section(key, line: node.line, entries, in: self)
    let result = body(&table)
    table.refuseUnknownKeys(refused: refused)
    adopt(table)
    return result
  }

  /// Reads an array of tables, whose keys the caller then reads and whose problems it adopts.
  ///
  /// `tooMany` makes the message about an array with more than `most` tables.
  mutating func readTables(
    _ key: String, most: Int, example: String, tooMany: (_ count: Int) -> Unreadable
  ) -> [Section] {
    guard let node = node(of: key) else { return [] }
    let outer = self
    let tables = value(of: key, node, example: example) { (node) throws(Unreadable) -> [Section]? in
      guard case .array(let elements) = node.value else { return nil }
      guard elements.count <= most else { throw tooMany(elements.count) }
      var tables: [Section] = []
      for element in elements {
        guard case .table(let entries) = element.value else { return nil }
        tables.append(Section(key, line: element.line, entries, in: outer))
      }
      return tables
    }
    return tables ?? []
  }

  private mutating func node(of key: String) -> Node? {
    known.append(key)
    return entry(key)?.node
  }

  private mutating func value<Value>(
    of key: String, _ node: Node, example: @autoclosure () -> String, _ read: (Node) throws(Unreadable) -> Value?
  ) -> Value? {
    do throws(Unreadable) {
      if let value = try read(node) { return value }
      refuse(key, "cannot use \(node.kind) here", remedy: "write for example \(example())")
    } catch {
      refuse(key, error)
    }
    return nil
  }

  // MARK: Problems

  /// Refuses a key, or the table itself if there is no key or the table does not have it.
  mutating func refuse(_ key: String?, _ reason: Unreadable) {
    problems.append(
      Problem(
        file: file, line: key.flatMap(line(of:)) ?? line, key: key.map { prefix + $0 },
        message: reason.message, remedy: reason.remedy))
  }

  /// Refuses a key.
  mutating func refuse(_ key: String?, _ message: String, remedy: String) {
    refuse(key, Unreadable(message, remedy: remedy))
  }

  /// Adds the problems of an inner table.
  mutating func adopt(_ inner: Section) {
    problems += inner.problems
    knownInside.append((String(inner.prefix.dropLast()), inner.known))
  }

  /// Refuses the keys that were not read.
  ///
  /// - Parameters:
  ///   - refused: keys that are refused for their own reason.
  ///   - others: keys that are known in some files only, and were read or refused here.
  mutating func refuseUnknownKeys(refused: [String: Unreadable] = [:], alreadyRefused others: [String] = []) {
    for entry in entries where !known.contains(entry.key) && !others.contains(entry.key) {
      refuse(entry.key, refused[entry.key] ?? .unknownKey(remedy: remedy(forUnknown: String(entry.key.prefix(64)))))
    }
  }

  private func remedy(forUnknown key: String) -> String {
    // In TOML, a key below a table's header belongs to that table: the usual cause of a misplaced key.
    if knownOutside.contains(key) { return "move it up, before the first line that begins with [" }
    if let inside = knownInside.first(where: { $0.keys.contains(key) }) {
      return "move it down, below the header of \(inside.table)"
    }
    let nearest = known.map { ($0, key.edits(to: $0)) }.min { $0.1 < $1.1 }
    if let (known, edits) = nearest, edits <= max(2, key.count / 3), edits < key.utf8.count {
      return "did you mean \(prefix)\(known)?"
    }
    return "the keys here are \(known.sorted().joined(separator: ", "))"
  }
}

extension Unreadable {
  static func unknownKey(remedy: String) -> Unreadable {
    Unreadable("unknown key", remedy: remedy)
  }

  /// Makes the mistakes for keys that belong elsewhere.
  static func unknownKeys(_ keys: [String], remedy: String) -> [String: Unreadable] {
    Dictionary(keys.map { ($0, unknownKey(remedy: remedy)) }) { first, _ in first }
  }
}
