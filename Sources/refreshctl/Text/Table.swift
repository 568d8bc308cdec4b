import CLinux
@preconcurrency import Glibc

/// A piece of text in one style.
struct Cell: ExpressibleByStringInterpolation {
  let text: String
  let style: Style

  /// Makes a cell with text of any program; replaces control characters.
  init(_ text: String, _ style: Style = .plain) {
    self.text = printable(text)
    self.style = style
  }

  init(stringLiteral text: String) { self.init(text) }
}

/// A table of aligned rows under titles; on a screen that is too narrow, each row takes a few lines.
struct Table {
  let titles: [String]
  /// The column to cut first on a narrow screen: prose, because the others identify the row.
  let prose: Int
  var rows: [[Cell]] = []
  /// Whether ids are never cut, so that other columns shrink.
  var keepsIdentity = false
  /// Whether no text is cut, so that a table that does not fit takes a few lines for each row.
  var keepsAll = false

  /// The title of a column of ids, which are cut only as far as they stay distinct.
  private static let identity = "APP"
  private static let gap = 2
  /// The least columns of prose while the ids can still shrink.
  private static let someProse = 24
  /// The least columns of prose, and of an id.
  private static let least = 12
  /// The least columns of any other text; a shorter text is never cut, because it would lose a unit.
  private static let leastOther = 20
  /// The most columns of prose in a file or a pipe, if other columns follow.
  private static let mostProse = 60

  private var titlesAndRows: [[Cell]] { [titles.map { Cell($0, .title) }] + rows }

  /// Whether each row is one line of the screen.
  func fits(on screen: Screen) -> Bool { widths(of: titlesAndRows, within: screen.width) != nil }

  /// The width of a column on the screen; nil if the column is missing, or if each row takes several lines.
  func width(of title: String, on screen: Screen) -> Int? {
    guard let column = titles.firstIndex(of: title) else { return nil }
    return widths(of: titlesAndRows, within: screen.width)?[column]
  }

  /// Whether a text of a column is cut on the screen.
  func cuts(_ title: String, on screen: Screen) -> Bool {
    guard let column = titles.firstIndex(of: title), let width = width(of: title, on: screen) else { return false }
    return rows.contains { TextWidth.of($0[column].text) > width }
  }

  /// The lines of the table, the titles first.
  func lines(on screen: Screen) -> [String] {
    let all = titlesAndRows
    guard let widths = widths(of: all, within: screen.width) else { return records(on: screen) }
    return all.map { row in
      var line = ""
      var gap = 0
      for (column, (cell, width)) in zip(row, widths).enumerated() {
        let text = cut(cell.text, in: column, to: width)
        if !text.isEmpty {
          line += String(repeating: " ", count: gap) + screen.paint(text, cell.style)
          gap = 0
        }
        gap += width - TextWidth.of(text) + Self.gap
      }
      return line
    }
  }

  /// The width of each column: its longest text, cut until the row fits; nil if too little remains.
  private func widths(of rows: [[Cell]], within limit: Int?) -> [Int]? {
    var widths = titles.indices.map { column in rows.map { TextWidth.of($0[column].text) }.max() ?? 0 }
    guard let limit else {
      if prose < widths.count - 1 { widths[prose] = min(widths[prose], Self.mostProse) }
      return widths
    }
    let room = limit - Self.gap * (widths.count - 1)
    func excess() -> Int { widths.reduce(0, +) - room }
    if keepsAll { return excess() > 0 ? nil : widths }
    func cut(_ column: Int, to least: Int) { widths[column] -= max(0, min(excess(), widths[column] - least)) }
    cut(prose, to: Self.someProse)
    if !keepsIdentity, let identity = titles.firstIndex(of: Self.identity) {
      cut(identity, to: leastIdentity(rows.map { $0[identity].text }))
    }
    cut(prose, to: Self.least)
    let kept = keepsIdentity ? titles.firstIndex(of: Self.identity) : nil
    let others = widths.indices.filter { $0 != kept }
    while excess() > 0, let widest = others.map({ widths[$0] }).max(), widest > Self.leastOther,
      let column = others.last(where: { widths[$0] == widest })
    {
      widths[column] -= 1
    }
    return excess() > 0 ? nil : widths
  }

  private func cut(_ text: String, in column: Int, to width: Int) -> String {
    titles[column] == Self.identity
      ? TextWidth.cutMiddle(of: text, to: width) : TextWidth.cutEnd(of: text, to: width)
  }

  /// The fewest columns in which all ids stay distinct.
  private func leastIdentity(_ ids: [String]) -> Int {
    let different = Set(ids)
    let widest = different.map { TextWidth.of($0) }.max() ?? 0
    return (Self.least..<max(Self.least, widest)).first { columns in
      Set(different.map { TextWidth.cutMiddle(of: $0, to: columns) }).count == different.count
    } ?? widest
  }

  /// Each row as its first cell, with the other cells and their titles below it.
  private func records(on screen: Screen) -> [String] {
    rows.flatMap { row in
      var head = row.first.map { screen.paint($0.text, .title) } ?? ""
      var facts = Facts()
      for (title, cell) in zip(titles, row).dropFirst() where !cell.text.isEmpty {
        if title.isEmpty {
          head += " " + screen.paint(cell.text, cell.style)
        } else {
          facts.add(title, screen.paint(cell.text, cell.style))
        }
      }
      return (head.isEmpty ? [] : [head]) + facts.lines(on: screen)
    }
  }
}

/// A list of named facts, one below the other.
struct Facts {
  private var rows: [(name: String, lines: [String])] = []

  /// The least columns for a fact beside its name; on a narrower screen the facts stand below the names.
  private static let leastWidth = 22
  private static let indent = "  "
  private static let gap = 3

  /// Adds a fact of several lines; does nothing without a line.
  mutating func add(_ name: String, _ lines: [String]) {
    if !lines.isEmpty { rows.append((name, lines)) }
  }

  mutating func add(_ name: String, _ line: String) { add(name, [line]) }

  /// The indented lines, with the names in one column; a long fact continues below itself.
  func lines(on screen: Screen) -> [String] {
    let margin = Self.indent.count + (rows.map { TextWidth.of($0.name) }.max() ?? 0) + Self.gap
    guard let width = screen.width else { return beside(on: screen, margin, within: .max) }
    let room = min(width, 100) - margin
    return room >= Self.leastWidth ? beside(on: screen, margin, within: room) : below(on: screen, within: width)
  }

  private func beside(on screen: Screen, _ margin: Int, within room: Int) -> [String] {
    rows.flatMap { row in
      // A path or an id longer than the room would break in the middle and continue at the edge.
      if let width = screen.width, row.lines.contains(where: { Self.longestWord(of: $0) > room }) {
        return below(row, on: screen, within: width)
      }
      return row.lines.flatMap { screen.wrapped($0, within: room) }.enumerated().map { index, line in
        let name = index == 0 ? row.name : ""
        return Self.indent + screen.paint(name, .faint)
          + String(repeating: " ", count: margin - Self.indent.count - TextWidth.of(name)) + line
      }
    }
  }

  private func below(on screen: Screen, within width: Int) -> [String] {
    rows.flatMap { below($0, on: screen, within: width) }
  }

  private func below(_ row: (name: String, lines: [String]), on screen: Screen, within width: Int) -> [String] {
    let lines = row.lines.flatMap { screen.wrapped($0, within: width - 2 * Self.indent.count) }
    return (row.name.isEmpty ? [] : [Self.indent + screen.paint(row.name, .faint)])
      + lines.map { Self.indent + Self.indent + $0 }
  }

  private static func longestWord(of line: String) -> Int {
    line.split(separator: " ").filter { !$0.contains { TextWidth.of($0) > 1 } }.map { TextWidth.of($0) }.max() ?? 0
  }
}

/// Computes the width of text on a terminal by the C library's wcwidth(3).
enum TextWidth {
  /// The columns of a text; escape sequences for colours take none.
  static func of(_ text: some StringProtocol) -> Int {
    if !text.utf8.contains(where: { $0 == 0x1B || $0 >= 0x80 }) { return text.utf8.count }
    var columns = 0
    var isEscape = false
    for character in text {
      if isEscape {
        isEscape = character != "m"
      } else if character == "\u{1B}" {
        isEscape = true
      } else {
        columns += of(character)
      }
    }
    return columns
  }

  /// The columns that a character takes.
  static func of(_ character: Character) -> Int {
    if character.isASCII { return 1 }
    let before = uselocale(utf8)
    defer { uselocale(before) }
    let columns = character.unicodeScalars.reduce(0) { $0 + width(of: $1) }
    // Terminals draw joined emoji as one; even older terminals draw a modifier onto its emoji.
    let isJoined = character.unicodeScalars.contains { $0.value == 0x200D || $0.properties.isEmojiModifier }
    return isJoined ? min(2, columns) : columns
  }

  private static func width(of scalar: Unicode.Scalar) -> Int {
    let width = wcwidth(wchar_t(scalar.value))
    return width < 0 ? 1 : Int(width)
  }

  /// A locale in which wcwidth(3) knows all of Unicode, independent of the reader's.
  private nonisolated(unsafe) static let utf8 = newlocale(1 << LC_CTYPE, "C.UTF-8", nil)

  /// The longest beginning of a text that fits into a number of columns.
  static func beginning(of text: String, columns: Int) -> String {
    var left = columns
    return String(
      text.prefix { character in
        left -= of(character)
        return left >= 0
      })
  }

  /// The text, cut at its end to a number of columns, with a mark.
  static func cutEnd(of text: String, to columns: Int) -> String {
    of(text) <= columns ? text : beginning(of: text, columns: columns - 1) + "…"
  }

  /// The text, cut at its beginning to a number of columns, with a mark, because the ends of ids differ.
  static func cutBeginning(of text: String, to columns: Int) -> String {
    guard of(text) > columns else { return text }
    return "…" + String(beginning(of: String(text.reversed()), columns: columns - 1).reversed())
  }

  /// The id of an app, cut in the middle to a number of columns, because beginning and end identify it.
  static func cutMiddle(of id: String, to columns: Int) -> String {
    guard of(id) > columns, columns > 5 else { return cutEnd(of: id, to: columns) }
    return beginning(of: id, columns: 3) + cutBeginning(of: id, to: columns - 3)
  }

  /// The text with trailing spaces, up to a number of columns.
  static func padded(_ text: String, to columns: Int) -> String {
    text + String(repeating: " ", count: max(0, columns - of(text)))
  }
}
