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
      case .silent: ("the daemon does not answer; the rows are of its last answer", .bad)
      case .connected: top.pause.map { (screen.sentence($0), .wait) }
      }
    guard let (line, style) = text else { return [] }
    return screen.wrapped(line, within: width).map { screen.paint($0, style) }
  }

  /// The reason why no row is shown.
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
