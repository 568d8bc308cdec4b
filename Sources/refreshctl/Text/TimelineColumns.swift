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

  /// The column of a moment; the first or the last for a moment outside the timeline.
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
