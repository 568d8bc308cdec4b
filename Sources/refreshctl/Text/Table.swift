/// A piece of text in one style.
struct Cell: ExpressibleByStringInterpolation {
  let text: String
  let style: Style

  /// A cell with text from any program: control characters are replaced.
  init(_ text: String, _ style: Style = .plain) {
    self.text = printable(text)
    self.style = style
  }

  init(stringLiteral text: String) { self.init(text) }
}

/// Aligned rows under titles, cut to the width of the screen.
struct Table {
  let titles: [String]
  /// The column to cut first on a narrow screen: prose, not a column that identifies the row.
  let prose: Int
  var rows: [[Cell]] = []

  /// The lines of the table, the titles first.
  func lines(on screen: Screen) -> [String] {
    let header = titles.map { Cell($0, .title) }
    let all = [header] + rows
    let widths = widths(of: all, within: screen.width)
    return all.map { row in
      var line = ""
      var gap = 0
      for (cell, width) in zip(row, widths) {
        let text = cut(cell.text, to: width)
        if !text.isEmpty {
          line += String(repeating: " ", count: gap) + screen.paint(text, cell.style)
          gap = 0
        }
        gap += width - text.count + Self.gap
      }
      return line
    }
  }

  private static let gap = 2
  private static let least = 6

  /// The width of each column: its longest text, cut until the row fits, first the prose, then the widest column.
  private func widths(of rows: [[Cell]], within limit: Int?) -> [Int] {
    var widths = titles.indices.map { column in rows.map { $0[column].text.count }.max() ?? 0 }
    guard let limit else { return widths }
    let room = limit - Self.gap * (widths.count - 1)
    func excess() -> Int { widths.reduce(0, +) - room }
    widths[prose] -= max(0, min(excess(), widths[prose] - Self.least))
    while excess() > 0, let widest = widths.max(), widest > Self.least, let column = widths.lastIndex(of: widest) {
      widths[column] -= 1
    }
    return widths
  }

  private func cut(_ text: String, to width: Int) -> String {
    text.count <= width ? text : text.prefix(width - 1) + "…"
  }
}

/// Named facts, one below the other.
struct Facts {
  private var rows: [(name: String, lines: [String])] = []

  /// Adds a fact of several lines; adds nothing without a line.
  mutating func add(_ name: String, _ lines: [String]) {
    if !lines.isEmpty { rows.append((name, lines)) }
  }

  mutating func add(_ name: String, _ line: String) { add(name, [line]) }

  /// The lines, indented, the names in one column.
  func lines(on screen: Screen) -> [String] {
    let width = rows.map(\.name.count).max() ?? 0
    return rows.flatMap { row in
      row.lines.enumerated().map { index, line in
        let name = index == 0 ? row.name : ""
        return "  " + screen.paint(name, .faint) + String(repeating: " ", count: width - name.count + 3) + line
      }
    }
  }
}
