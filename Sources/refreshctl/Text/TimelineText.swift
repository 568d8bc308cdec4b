import RefreshAPI

extension Screen {
  /// The timeline in characters: a row for each app, a column for each span of time, now in the middle.
  func text(_ timeline: Timeline) -> [String] {
    guard !timeline.rows.isEmpty else { return wrapped(noApps(butOfOthers: timeline.hasAppsOfOthers)) }
    let columns = TimelineColumns(timeline, width: width ?? 100)
    let axis = TimeAxis(
      from: timeline.from, until: timeline.until, distance: columns.stretch * Int64(TimelineColumns.tickDistance),
      on: self)
    let margin = String(repeating: " ", count: columns.margin)
    let scale = [paint(margin + columns.labels(of: axis), .faint), paint(margin + columns.ruler(of: axis), .faint)]
    let rows = timeline.rows.map { row in
      columns.label(row.label) + cells(of: row, columns)
    }
    return wrapped(timeline.sentence) + [""] + scale + rows + [""] + legend(columns, timeline)
  }

  private func cells(of row: Timeline.TimelineRow, _ columns: TimelineColumns) -> String {
    var cells = [(glyph: String, style: Style)](repeating: ("·", .faint), count: columns.count)
    for kind in Timeline.Span.Kind.allCases {
      for span in row.spans where span.kind == kind {
        for column in columns.columns(of: span) { cells[column] = (kind.glyph, kind.style) }
      }
    }
    for kind in Timeline.Mark.Kind.allCases {
      for mark in row.marks where mark.kind == kind {
        cells[columns.column(of: mark.at)] = (kind.glyph, kind.style)
      }
    }
    let room = columns.count - columns.now - 2
    if let note = row.note, room > 0 {
      for (index, character) in TextWidth.cutEnd(of: note, to: room).enumerated() {
        cells[columns.now + 2 + index] = (character == " " ? " " : String(character), .faint)
      }
    }
    cells[columns.now] = ("│", .title)
    return painted(cells)
  }

  /// Joins the cells, with one colour sequence for each run of a style.
  private func painted(_ cells: [(glyph: String, style: Style)]) -> String {
    var line = ""
    var run = ""
    for (index, cell) in cells.enumerated() {
      run += cell.glyph
      if index + 1 == cells.count || cells[index + 1].style != cell.style {
        line += paint(run, cell.style)
        run = ""
      }
    }
    return line
  }

  private func legend(_ columns: TimelineColumns, _ timeline: Timeline) -> [String] {
    let kinds = Set(timeline.rows.flatMap { $0.marks.map(\.kind) })
    var parts = Timeline.Mark.Kind.allCases.reversed().filter { kinds.contains($0) }.map { kind in
      (kind.glyph, kind.words, kind.style)
    }
    let spans = Set(timeline.rows.flatMap { $0.spans.map(\.kind) })
    parts += Timeline.Span.Kind.allCases.reversed().filter { spans.contains($0) }.map { ($0.glyph, $0.words, $0.style) }
    parts.append(("│", "now", .title))
    // A no-break space keeps a sign beside its word.
    let marks = parts.map { glyph, words, style in
      "\(paint(glyph, style))\u{A0}" + words.map { $0 == " " ? "\u{A0}" : "\($0)" }.joined()
    }
    let lines = wrapped(marks.joined(separator: "\u{A0}\u{A0} ")).map { line in
      var text = String(line.map { $0 == "\u{A0}" ? " " : $0 })
      while text.last == " " { text.removeLast() }
      return text
    }
    return lines
      + wrapped("Each column is \(Elapsed.rough(columns.stretch)); a sign may stand for several of its kind.")
  }
}

extension Timeline.Span.Kind {
  fileprivate var glyph: String {
    switch self {
    case .quiet: "▒"
    case .foreground: "═"
    case .waiting: "━"
    }
  }

  fileprivate var style: Style {
    switch self {
    case .quiet: .faint
    case .foreground: .good
    case .waiting: .wait
    }
  }
}

extension Timeline.Mark.Kind {
  fileprivate var glyph: String {
    switch self {
    case .opened: "▲"
    case .push: "◆"
    case .planned: "◇"
    case .noData: "○"
    case .newData: "●"
    case .failed: "×"
    case .refreshing: "▶"
    }
  }

  fileprivate var style: Style {
    switch self {
    case .planned: .plan
    case .noData, .opened: .plain
    case .push: .wait
    case .newData, .refreshing: .good
    case .failed: .bad
    }
  }
}
