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

/// Maps time to the columns of a terminal: equally many before and after now, and one for now.
struct TimelineColumns {
  /// The least distance between two tick labels, in columns.
  static let tickDistance = 7

  /// The columns for the names of the apps, with the gap after them.
  let margin: Int
  /// The time span of one column, microseconds.
  let stretch: Int64
  /// The number of columns, with the column for now.
  let count: Int
  /// The column between the past and the future.
  let now: Int
  private let moment: Int64

  /// The possible time spans of one column, in minutes.
  private static let stretches: [Int64] = [1, 2, 5, 10, 15, 20, 30, 60, 120, 180, 240, 360, 480, 720, 1440]
  private static let longestLabel = 24
  private static let leastLabel = 8
  private static let leastColumns = 24

  /// Fits a timeline to the width of a screen.
  init(_ timeline: Timeline, width: Int) {
    let longest = min(Self.longestLabel, max(Self.leastLabel, width - Self.leastColumns - 3))
    margin = min(timeline.rows.map { TextWidth.of($0.label) }.max() ?? 0, longest) + 2
    let half = max((width - margin - 1) / 2, Self.leastColumns / 2)
    let span = timeline.now - timeline.from
    let stretch = Self.stretches.lazy.map { $0 * 60_000_000 }.first { span <= $0 * Int64(half) } ?? span
    let past = Int((span + stretch - 1) / stretch)
    self.stretch = stretch
    now = past
    count = 2 * past + 1
    moment = timeline.now
  }

  /// The column of a point in time; the first or the last if it lies outside the timeline.
  func column(of at: Int64) -> Int {
    let distance = at - moment
    let column = distance < 0 ? now + Int((distance + 1) / stretch) - 1 : now + 1 + Int(distance / stretch)
    return min(max(column, 0), count - 1)
  }

  /// The columns of a span; a span that is still open ends before now.
  func columns(of span: Timeline.Span) -> ClosedRange<Int> {
    let last = span.until == moment ? now - 1 : column(of: span.until - 1)
    return min(column(of: span.from), last)...last
  }

  /// The name or id, cut at its beginning, because the ends of ids differ, and the gap after it.
  func label(_ text: String) -> String {
    TextWidth.padded(TextWidth.cutBeginning(of: text, to: margin - 2), to: margin)
  }

  /// The labels of the ticks, and `now`.
  func labels(of axis: TimeAxis) -> String {
    var line = [Character](repeating: " ", count: count)
    func put(_ text: String, at column: Int) {
      let begin = min(max(0, column - text.count / 2), count - text.count)
      let room = max(0, begin - 1)..<min(count, begin + text.count + 1)
      guard begin >= 0, line[room].allSatisfy({ $0 == " " }) else { return }
      line.replaceSubrange(begin..<begin + text.count, with: Array(text))
    }
    put("now", at: now)
    for tick in axis.ticks { put(tick.text, at: column(of: tick.at)) }
    while line.last == " " { line.removeLast() }
    return String(line)
  }

  /// The line below the labels, with a notch at each tick.
  func ruler(of axis: TimeAxis) -> String {
    var line = [Character](repeating: "─", count: count)
    for tick in axis.ticks { line[column(of: tick.at)] = "┬" }
    line[now] = "┼"
    return String(line)
  }
}

/// The ticks of a time scale, and their labels.
struct TimeAxis {
  /// A point in time on the scale.
  struct Tick: Equatable {
    /// Microseconds of the wall clock.
    let at: Int64
    /// The label: `18:00`, or `Sun 22` at midnight.
    let text: String
  }

  /// The ticks at round times of the reader's clock, in order.
  let ticks: [Tick]

  /// The possible distances between ticks, in minutes: round numbers that divide a day.
  private static let steps = [5, 10, 15, 30, 60, 120, 180, 240, 360, 480, 720, 1440]
  /// A divisor of every step and of every time zone's offset from UTC.
  private static let grid: Int64 = 5 * 60_000_000

  /// Places ticks on a scale, at least `distance` apart.
  ///
  /// - Parameters:
  ///   - from: the beginning, microseconds of the wall clock.
  ///   - until: the end, microseconds of the wall clock.
  ///   - distance: the least time between two ticks, microseconds.
  ///   - screen: the screen with the reader's calendar.
  init(from: Int64, until: Int64, distance: Int64, on screen: Screen) {
    let step = Self.steps.first { Int64($0) * 60_000_000 >= distance } ?? 1440
    let days = max(1, Int((distance + 86_399_999_999) / 86_400_000_000))
    let first = (from + Self.grid - 1) / Self.grid * Self.grid
    ticks = stride(from: first, through: until, by: Int64.Stride(Self.grid)).compactMap { at in
      let time = screen.calendar(at)
      guard time.minuteOfDay % step == 0, step < 1440 || time.day % days == 0 else { return nil }
      return Tick(at: at, text: time.minuteOfDay == 0 ? time.weekday : time.clock(seconds: false))
    }
  }
}
