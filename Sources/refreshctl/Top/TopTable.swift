import RefreshAPI

/// The apps of the live screen, a line each; omits columns until the ids fit whole.
struct TopTable {
  /// From the widest table to the narrowest: the last result contains the age, and most apps are in the background.
  private static let layouts: [[AppColumn]] = [
    [.app, .phase, .next, .heldBy, .last, .age], [.app, .phase, .next, .heldBy, .last], [.app, .next, .heldBy, .last],
    [.app, .next, .heldBy], [.app, .next], [.app],
  ]

  /// The most columns of holds that replace the next refresh.
  private static let mostOfHolds = 16

  /// The titles, followed by a line for each app.
  let lines: [String]
  /// The same lines without colours.
  let plainLines: [String]
  /// The facts that the table omits or cuts.
  private let hidden: [AppColumn]
  /// The most lines of an id on the screen.
  private let linesOfID: Int

  init(_ apps: [Wire.App], on screen: Screen) {
    let rows = apps.map { screen.row($0) }
    let isAnyHeld = rows.contains { !$0.heldBy.text.isEmpty }
    let layouts = Self.layouts.map { $0.filter { $0 != .heldBy || isAnyHeld } }
    let tables = layouts.map { Self.table($0, rows, isAnyHeld) }
    let whole = tables.firstIndex { $0.fits(on: screen) }
    var index = whole ?? tables.count - 1
    var table = tables[index]
    if whole == nil || layouts[index] == [.app] {
      // No other column fits beside the whole ids, so cut the ids.
      let next = tables.count - 2
      var cut = tables[next]
      cut.keepsIdentity = false
      if cut.fits(on: screen) { (index, table) = (next, cut) }
    }
    if table.fits(on: screen) {
      lines = table.lines(on: screen)
      plainLines = table.lines(on: screen.withoutColours)
    } else {
      // The screen is so narrow that two ids look alike, so the selected id is shown whole below the table.
      lines = [AppColumn.app.rawValue] + rows.map { TextWidth.cutMiddle(of: $0.app.text, to: screen.width ?? .max) }
      plainLines = lines
    }
    let (layout, shown) = (layouts[index], table)
    hidden = layouts[0].filter { column in
      !layout.contains(column) || !shown.fits(on: screen) || shown.cuts(column.rawValue, on: screen)
    }
    linesOfID = rows.map { screen.broken($0.app.text, at: screen.width ?? .max).count }.max() ?? 1
  }

  private static func table(_ layout: [AppColumn], _ rows: [AppRow], _ isAnyHeld: Bool) -> Table {
    // Cut the prose first: the last result, else the holds, else the next refresh.
    let prose = layout.firstIndex(of: .last) ?? layout.count - 1
    var table = Table(titles: layout.map(\.rawValue), prose: prose, keepsIdentity: true)
    let tellsHolds = isAnyHeld && !layout.contains(.heldBy)
    table.rows = rows.map { row in
      layout.map { $0 == .next && tellsHolds ? nextOrHolds(row) : $0.cell(of: row) }
    }
    return table
  }

  /// The next refresh, or the holds if nothing else is known; as many holds as leave room for the ids.
  private static func nextOrHolds(_ row: AppRow) -> Cell {
    guard row.next.text == "-", !row.heldBy.text.isEmpty else { return row.next }
    return Cell(TextWidth.cutEnd(of: "held: \(row.heldBy.text)", to: mostOfHolds), row.heldBy.style)
  }

  /// The facts of an app that the table omits or cuts; equally many lines for each app, so that nothing jumps.
  func facts(of app: Wire.App?, on screen: Screen) -> [String] {
    let rest = hidden.filter { $0 != .app }
    guard !hidden.isEmpty, let width = screen.width else { return [] }
    let row = app.map { screen.row($0) }
    let margin = (rest.map { TextWidth.of($0.rawValue) }.max() ?? 0) + 2
    // An id is never cut here, because a person must be able to read it somewhere.
    let id = hidden.contains(.app) ? screen.broken(row?.app.text ?? "", at: width) : []
    let blank = hidden.contains(.app) ? Array(repeating: "", count: max(0, linesOfID - id.count)) : []
    let others = rest.map { column in
      let cell = row.map(column.cell) ?? ""
      return screen.paint(TextWidth.padded(column.rawValue, to: margin), .faint)
        + screen.paint(TextWidth.cutEnd(of: cell.text, to: max(1, width - margin)), cell.style)
    }
    return blank + id.map { screen.paint($0, .title) } + others
  }
}

extension Screen {
  /// The same screen without colours.
  var withoutColours: Screen {
    Screen(width: width, hasColours: false, now: now, calendar: calendar, height: height, isUnicode: isUnicode)
  }

  /// The same screen with fewer columns.
  func narrower(by columns: Int) -> Screen {
    Screen(
      width: width.map { max(1, $0 - columns) }, hasColours: hasColours, now: now, calendar: calendar, height: height,
      isUnicode: isUnicode)
  }
}
