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
