import RefreshEngine

/// One table of one file, read key by key, so that every mistake in it is found and has its line.
///
/// A key that is asked for is a known key; what is left over in the end is not.
struct Section {
  /// The path of the file.
  let file: String
  /// The table's name and a point, empty for the document.
  let prefix: String
  /// The line where the table begins, nil for the document.
  let line: Int?
  private(set) var problems: [Problem] = []
  private let entries: [Node.Entry]
  private var known: [String] = []
  /// The keys that are known in the table around this one, and in the tables in it with their names.
  private var knownOutside: [String] = []
  private var knownInside: [(table: String, keys: [String])] = []

  /// A document.
  init(file: String, entries: [Node.Entry]) {
    (self.file, prefix, line, self.entries) = (file, "", nil, entries)
  }

  /// A table of that name in this one, to be read before this one is done.
  func inner(_ name: String, line: Int, entries: [Node.Entry]) -> Section {
    Section(file: file, prefix: "\(prefix)\(name).", line: line, entries: entries, knownOutside: known)
  }

  private init(file: String, prefix: String, line: Int, entries: [Node.Entry], knownOutside: [String]) {
    (self.file, self.prefix, self.line, self.entries) = (file, prefix, line, entries)
    self.knownOutside = knownOutside
  }

  /// The keys of the table, in TOML's order for a program: by their bytes.
  var keys: [String] { entries.map(\.key) }

  /// Whether the table has the key, right or wrong.
  func isWritten(_ key: String) -> Bool { entry(key) != nil }

  private func entry(_ key: String) -> Node.Entry? { entries.first { $0.key == key } }

  /// Takes a key's value and its line, if the key is there and `read` can make something of it.
  ///
  /// - Parameters:
  ///   - example: a line that would be right.
  ///   - read: gives nil for a value of another type.
  mutating func take<Result>(
    _ key: String, example: @autoclosure () -> String, _ read: (Node) throws(Unreadable) -> Result?
  ) -> (value: Result, line: Int)? {
    known.append(key)
    guard let node = entry(key)?.node else { return nil }
    do throws(Unreadable) {
      if let value = try read(node) { return (value, node.line) }
      refuse(
        key,
        Unreadable(message: "cannot take \(node.kind) for this key", remedy: "write for example \(example())"))
    } catch {
      refuse(key, error)
    }
    return nil
  }

  /// Takes the value of a key that is a string, made into something else.
  mutating func takeText<Result>(
    _ key: String, example: String, _ read: (String) throws(Unreadable) -> Result
  ) -> Result? {
    take(key, example: "\(key) = \"\(example)\"") { (node) throws(Unreadable) -> Result? in
      guard case .string(let text) = node.value else { return nil }
      return try read(text)
    }?.value
  }

  /// Takes a duration within bounds.
  mutating func takeDuration(_ key: String, within bounds: ClosedRange<Duration>, example: String) -> Duration? {
    takeText(key, example: example) { (text) throws(Unreadable) in
      let duration = try Duration(systemd: text)
      guard bounds.contains(duration) else {
        throw .outOfBounds(duration.inSystemdForm, bounds.lowerBound.inSystemdForm, bounds.upperBound.inSystemdForm)
      }
      return duration
    }
  }

  /// Takes an integer within bounds.
  mutating func takeInteger(_ key: String, within bounds: ClosedRange<Int32>, example: Int32) -> Int32? {
    take(key, example: "\(key) = \(example)") { (node) throws(Unreadable) -> Int32? in
      guard case .integer(let number) = node.value else { return nil }
      guard let small = Int32(exactly: number), bounds.contains(small) else {
        throw .outOfBounds("\(number)", "\(bounds.lowerBound)", "\(bounds.upperBound)")
      }
      return small
    }?.value
  }

  /// Takes a number within bounds, with a point or without.
  mutating func takeNumber(_ key: String, within bounds: ClosedRange<Double>, example: Double) -> Double? {
    take(key, example: "\(key) = \(example)") { (node) throws(Unreadable) -> Double? in
      let number: Double
      switch node.value {
      case .integer(let integer): number = Double(integer)
      case .float(let float): number = float
      default: return nil
      }
      guard bounds.contains(number) else {
        throw .outOfBounds("\(number)", "\(bounds.lowerBound)", "\(bounds.upperBound)")
      }
      return number
    }?.value
  }

  /// Takes a boolean.
  mutating func takeBoolean(_ key: String) -> Bool? {
    take(key, example: "\(key) = true") { node in if case .boolean(let value) = node.value { value } else { nil } }?
      .value
  }

  /// Takes one of a few words.
  mutating func takeWord<Word: RawRepresentable<String> & CaseIterable>(_ key: String, example: Word) -> Word? {
    takeText(key, example: example.rawValue) { (text) throws(Unreadable) in
      if let word = Word(rawValue: text) { return word }
      let words = Word.allCases.map { "\"\($0.rawValue)\"" }
      throw Unreadable(
        message: "cannot take \(quoted(text))",
        remedy: "write \(words.dropLast().joined(separator: ", ")) or \(words.suffix(1).joined())")
    }
  }

  /// Takes an array of strings, each of which `check` may refuse.
  mutating func takeTexts(_ key: String, example: String, _ check: (String) throws(Unreadable) -> Void) -> [String]? {
    let line = "\(key) = [\"\(example)\"]"
    return take(key, example: line) { (node) throws(Unreadable) -> [String]? in
      guard case .array(let elements) = node.value else { return nil }
      var texts: [String] = []
      for element in elements {
        guard case .string(let text) = element.value else {
          throw Unreadable(
            message: "cannot take \(element.kind) in this array", remedy: "put it in quotes, as in \(line)")
        }
        try check(text)
        texts.append(text)
      }
      return texts
    }?.value
  }

  /// Takes a table, whose own keys are then to be read and its problems adopted.
  mutating func takeTable(_ key: String, example: String) -> Section? {
    guard
      let table = take(
        key, example: example, { node in if case .table(let entries) = node.value { entries } else { nil } })
    else { return nil }
    return inner(key, line: table.line, entries: table.value)
  }

  /// Adds a problem of a key; of the table itself where there is no key, or it is not written.
  mutating func refuse(_ key: String?, _ reason: Unreadable) {
    problems.append(
      Problem(
        file: file, line: key.flatMap { entry($0)?.node.line } ?? line, key: key.map { prefix + $0 },
        message: reason.message, remedy: reason.remedy))
  }

  /// Adds the problems of a table in this one.
  mutating func adopt(_ inner: Section) {
    problems += inner.problems
    knownInside.append((String(inner.prefix.dropLast()), inner.known))
  }

  /// Refuses the keys that nobody asked for.
  ///
  /// - Parameters:
  ///   - appKeys: keys that are right in an app's file, and only there.
  ///   - refused: keys for which there is a better reason.
  mutating func refuseUnknownKeys(appKeys: [String] = [], refused: [String: Unreadable] = [:]) {
    for entry in entries where !known.contains(entry.key) {
      let remedy =
        appKeys.contains(entry.key) ? "write it into an app's file" : remedy(forUnknown: String(entry.key.prefix(64)))
      let reason = Unreadable(message: "cannot use a key that is not known here", remedy: remedy)
      refuse(entry.key, refused[entry.key] ?? reason)
    }
  }

  private func remedy(forUnknown key: String) -> String {
    // In TOML, what follows a table's header belongs to that table: the usual way to get here.
    if knownOutside.contains(key) { return "move it up, before the first line that begins with [" }
    if let inside = knownInside.first(where: { $0.keys.contains(key) }) {
      return "move it down, below the header of \(inside.table)"
    }
    let nearest = known.map { ($0, key.edits(to: $0)) }.min { $0.1 < $1.1 }
    if let (known, edits) = nearest, edits <= max(2, key.count / 3) { return "did you mean \(prefix)\(known)?" }
    return "the keys here are \(known.sorted().joined(separator: ", "))"
  }
}

extension Unreadable {
  static func outOfBounds(_ value: String, _ lowest: String, _ highest: String) -> Unreadable {
    Unreadable(
      message: "cannot take \(value): it is out of bounds", remedy: "write \(lowest) to \(highest)")
  }
}

extension String {
  /// How many letters must be added, removed or replaced to make the other text of this one (Levenshtein).
  fileprivate func edits(to other: String) -> Int {
    let letters = Array(other.utf8)
    var row = Array(0...letters.count)
    for (above, letter) in utf8.enumerated() {
      var diagonal = row[0]
      row[0] = above + 1
      for column in letters.indices {
        let replaced = diagonal + (letters[column] == letter ? 0 : 1)
        diagonal = row[column + 1]
        row[column + 1] = Swift.min(replaced, row[column] + 1, diagonal + 1)
      }
    }
    return row[letters.count]
  }
}
