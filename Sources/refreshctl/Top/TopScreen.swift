import RefreshAPI

/// Draws the live screen as rows of text; a row is never wider than the terminal.
struct TopScreen {
  let screen: Screen
  private let width: Int
  private let height: Int

  /// The mark of the selected row, for terminals without colours.
  private static let marker = "> "
  /// The most lines of a message, and the fewest rows beside which the selected app's details are shown.
  private static let mostLinesOfAMessage = 3
  private static let leastRows = 3

  /// Uses the size of the terminal; without a size, 80 columns and 24 lines.
  init(_ screen: Screen) {
    width = screen.width ?? 80
    height = screen.height ?? 24
    self.screen = Screen(
      width: width, hasColours: screen.hasColours, now: screen.now, calendar: screen.calendar, height: height,
      isUnicode: screen.isUnicode)
  }

  /// The rows of the shown page, from top to bottom.
  func rows(of top: TopState) -> [String] {
    let bottom = message(top) + [hints(top)]
    let room = max(0, height - bottom.count)
    let body: [String]
    switch top.page {
    case .list: body = list(top, room: room)
    case .help, .why: body = Array(text(of: top).dropFirst(top.scroll).prefix(room))
    }
    let filled = body.prefix(room) + Array(repeating: "", count: max(0, room - body.count))
    return (filled + bottom).suffix(height).map { screen.broken($0, at: width).first ?? "" }
  }

  /// The most lines by which the text of a page can scroll.
  func mostScroll(of top: TopState) -> Int {
    let room = height - message(top).count - 1
    return top.page == .list ? 0 : max(0, text(of: top).count - max(1, room))
  }

  private func text(of top: TopState) -> [String] {
    switch top.page {
    case .list: []
    case .help: broken(TopHelp.lines(on: screen))
    case .why(let app, nil): trouble(top) + broken([printable(app), "…"])
    case .why(_, let why?): trouble(top) + broken(screen.text(why))
    }
  }

  private func broken(_ lines: [String]) -> [String] { lines.flatMap { screen.broken($0, at: width) } }

  // MARK: The list

  private func list(_ top: TopState, room: Int) -> [String] {
    guard !top.apps.isEmpty else { return [summary(top)] + trouble(top) + [""] + nothing(top) }
    let rows = screen.narrower(by: Self.marker.count)
    let table = TopTable(top.apps, on: rows)
    var facts = table.facts(of: top.selected, on: screen)
    var above = [summary(top)] + trouble(top)
    // A low terminal drops the details first, then the summary, then the titles.
    if room - above.count - 1 - facts.count < min(Self.leastRows, top.apps.count) + 1 { facts = [] }
    if room - above.count - 1 < 1 { above = [] }
    let titles = room > 1 ? ["  " + table.lines[0]] : []
    let left = max(1, room - above.count - titles.count - (facts.isEmpty ? 0 : facts.count + 1))
    let selected = top.apps.firstIndex { $0.id == top.selection } ?? 0
    // The selected row stays in the middle if there are enough rows around it.
    let first = max(0, min(selected - left / 2, top.apps.count - left))
    let shown = (first..<min(first + left, top.apps.count)).map { index in
      index == selected
        ? screen.paint(TextWidth.padded(Self.marker + table.plainLines[index + 1], to: width), .selected)
        : "  " + table.lines[index + 1]
    }
    if !above.isEmpty, shown.count < top.apps.count { above[0] += "; \(first + 1) to \(first + shown.count) are shown" }
    let gap = facts.isEmpty ? [] : Array(repeating: "", count: left - shown.count + 1)
    return above + titles + shown + gap + facts
  }

  private func summary(_ top: TopState) -> String {
    let all = top.list?.apps ?? []
    guard !all.isEmpty else { return "" }
    let number = top.filter.isEmpty ? "" : "\(top.apps.count) of "
    let running = all.count { $0.verdict == .refreshing }
    let refreshing = running == 0 ? "" : ", " + (running == 1 ? "1 is" : "\(running) are") + " being refreshed"
    let others = top.list?.hasAppsOfOthers == true ? "; there are apps of other users" : ""
    return number + count(all.count, "app") + refreshing + others
  }

  /// The lost connection, or the pause of all apps.
  private func trouble(_ top: TopState) -> [String] {
    let text: (String, Style)? =
      switch top.link {
      case .lost: (SocketOptions.lostWords, .bad)
      case .silent: ("the daemon does not answer; the rows show its last answer", .bad)
      case .connected: top.pause.map { (screen.sentence($0), .wait) }
      }
    guard let (line, style) = text else { return [] }
    return screen.wrapped(line, within: width).map { screen.paint($0, style) }
  }

  /// Says why no row is shown.
  private func nothing(_ top: TopState) -> [String] {
    guard let list = top.list else { return ["…"] }
    if list.apps.isEmpty { return broken(screen.text(list).flatMap { screen.wrapped($0, within: width) }) }
    return screen.wrapped("No id and no name contains \(printable(top.filter)).", within: width)
  }

  // MARK: The bottom

  private func message(_ top: TopState) -> [String] {
    let filtered = TextWidth.cutBeginning(of: "filter: \(printable(top.filter))", to: width - 1)
    if top.isFiltering { return [screen.paint(filtered + "_", .title)] }
    let lines = top.message.map { message in
      let lines = message.text.split(separator: "\n").flatMap { screen.wrapped(printable(String($0)), within: width) }
      return lines.prefix(Self.mostLinesOfAMessage).map { screen.paint($0, message.style) }
    }
    return lines ?? (top.filter.isEmpty || top.page != .list ? [] : [screen.paint(filtered, .faint)])
  }

  /// The keys that work now, as many as fit; the last ones are the most important.
  private func hints(_ top: TopState) -> String {
    let all = TopHelp.hints(top)
    var line = ""
    for hint in all.needed + all.others {
      let next = line.isEmpty ? hint : line + "  " + hint
      if TextWidth.of(next) <= width { line = next }
    }
    return screen.paint(line, .faint)
  }
}

extension Screen {
  /// A painted line, split into lines that fit a number of columns.
  func broken(_ line: String, at columns: Int) -> [String] {
    guard TextWidth.of(line) > columns, columns > 1 else { return [line] }
    var (lines, used, colour, isEscape) = ([""], 0, "", false)
    for character in line {
      if isEscape || character == "\u{1B}" {
        if !isEscape { colour = "" }
        colour.append(character)
        lines[lines.count - 1].append(character)
        isEscape = character != "m"
        continue
      }
      let width = TextWidth.of(character)
      if used + width > columns {
        let isPainted = !colour.isEmpty && colour != "\u{1B}[0m"
        if isPainted { lines[lines.count - 1] += "\u{1B}[0m" }
        lines.append(isPainted ? colour : "")
        used = 0
      }
      lines[lines.count - 1].append(character)
      used += width
    }
    return lines
  }
}

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
