/// The timeline as an SVG document: a row for each app, now in the middle, and a tooltip for each mark.
///
/// The document is SVG 1.1 with one stylesheet, so that browsers, viewers and converters draw the same picture. The
/// stylesheet has a light and a dark scheme.
struct TimelinePicture {
  private static let width = 1080.0
  private static let left = 230.0
  private static let right = 1060.0
  private static let top = 92.0
  private static let rowHeight = 30.0
  /// The least distance between two tick labels.
  private static let tickDistance = 70.0
  /// The distance below which marks become one.
  private static let closeness = 11.0

  private let timeline: Timeline
  private let screen: Screen

  init(_ timeline: Timeline, _ screen: Screen) {
    self.timeline = timeline
    self.screen = screen
  }

  var text: String {
    var document = SVGText(
      width: Self.width, height: height, title: "Past and planned refreshes",
      description: timeline.sentence, style: Self.style)
    draw(into: &document)
    return document.text
  }

  private var height: Double { bottom + 74 }

  private var bottom: Double { Self.top + Double(timeline.rows.count) * Self.rowHeight }

  private func x(_ at: Int64) -> Double {
    let part = Double(at - timeline.from) / Double(max(1, timeline.until - timeline.from))
    return Self.left + min(max(part, 0), 1) * (Self.right - Self.left)
  }

  private func draw(into document: inout SVGText) {
    document.rectangle("page", x: 0, y: 0, width: Self.width, height: height)
    let now = x(timeline.now)
    document.rectangle("future", x: now, y: Self.top, width: Self.right - now, height: bottom - Self.top)
    document.text("heading", x: 20, y: 34, timeline.sentence)
    drawScale(into: &document)
    document.line("now", from: (now, Self.top - 6), to: (now, bottom))
    document.text("tick strong", x: now, y: Self.top - 14, "now", anchor: .middle)
    for (index, row) in timeline.rows.enumerated() {
      draw(row, y: Self.top + (Double(index) + 0.5) * Self.rowHeight, into: &document)
    }
    drawLegend(into: &document)
  }

  private func drawScale(into document: inout SVGText) {
    let perPixel = Double(timeline.until - timeline.from) / (Self.right - Self.left)
    let axis = TimeAxis(
      from: timeline.from, until: timeline.until, distance: Int64(perPixel * Self.tickDistance), on: screen)
    for tick in axis.ticks {
      document.line("grid", from: (x(tick.at), Self.top), to: (x(tick.at), bottom))
      if abs(x(tick.at) - x(timeline.now)) > 34 {
        document.text("tick", x: x(tick.at), y: Self.top - 14, tick.text, anchor: .middle)
      }
    }
    for index in 0...timeline.rows.count {
      let y = Self.top + Double(index) * Self.rowHeight
      document.line("grid", from: (20, y), to: (Self.right, y))
    }
  }

  private func draw(_ row: Timeline.TimelineRow, y: Double, into document: inout SVGText) {
    document.text(
      "label", x: 20, y: y + 4, TextWidth.cutBeginning(of: row.label, to: 30), tooltip: printable(row.app))
    for kind in Timeline.Span.Kind.allCases {
      for span in row.spans where span.kind == kind { draw(span, y: y, into: &document) }
    }
    for kind in Timeline.Mark.Kind.allCases {
      for group in groups(of: row.marks.filter { $0.kind == kind }) {
        document.path(kind.name, kind.shape(x: x(group.first.at), y: y), tooltip: tooltip(of: group))
      }
    }
    if let note = row.note { document.text("note", x: x(timeline.now) + 12, y: y + 4, note) }
  }

  private func draw(_ span: Timeline.Span, y: Double, into document: inout SVGText) {
    let (from, until) = (x(span.from), max(x(span.until), x(span.from) + 2))
    let length = Elapsed.rough(max(0, span.until - span.from))
    let words =
      span.kind == .waiting
      ? "waited \(length), held: \(span.holds.joined(separator: ", "))" : "\(length) \(span.kind.words)"
    let half = span.kind.height / 2
    document.rectangle(
      span.kind.name, x: from, y: y - half, width: until - from, height: 2 * half,
      tooltip: "\(screen.clock(span.from)): \(words)")
  }

  /// Marks of one kind at one position.
  private struct Group {
    let first: Timeline.Mark
    var last: Timeline.Mark
    var count = 1
  }

  private func groups(of marks: [Timeline.Mark]) -> [Group] {
    var groups: [Group] = []
    for mark in marks {
      if let group = groups.last, x(mark.at) - x(group.first.at) < Self.closeness {
        groups[groups.count - 1].last = mark
        groups[groups.count - 1].count += 1
      } else {
        groups.append(Group(first: mark, last: mark))
      }
    }
    return groups
  }

  private func tooltip(of group: Group) -> String {
    let (first, words) = (group.first, group.first.kind.words)
    guard group.count > 1 else {
      return "\(screen.clock(first.at)): \(words)" + (first.detail.isEmpty ? "" : " (\(first.detail))")
    }
    return "\(screen.clock(first.at)) to \(screen.clock(group.last.at)): \(group.count) times \(words)"
  }

  private func drawLegend(into document: inout SVGText) {
    var (x, y) = (Self.left + 6, bottom + 28)
    for kind in [Timeline.Mark.Kind.newData, .noData, .failed, .refreshing, .planned, .opened, .push] {
      // The sign of an opening stands below its row, but beside its word in the legend.
      document.path(kind.name, kind.shape(x: x, y: kind == .opened ? y - 9 : y))
      document.text("tick", x: x + 12, y: y + 4, kind.words)
      x += 110
    }
    (x, y) = (Self.left + 6, bottom + 52)
    for kind in Timeline.Span.Kind.allCases.reversed() {
      document.rectangle(kind.name, x: x - 6, y: y - kind.height / 2, width: 20, height: kind.height)
      document.text("tick", x: x + 20, y: y + 4, kind.words)
      x += 160
    }
  }

  /// The stylesheet, without custom properties, because converters do not support them.
  private static let style = """
    text{font-family:system-ui,"Segoe UI","Noto Sans","DejaVu Sans",sans-serif;font-size:12px;fill:#1f2328}
    .heading{font-size:15px}.strong{font-weight:bold}.tick,.note{fill:#59636e}.note{font-style:italic}
    .page{fill:#fff}.future{fill:#f6f8fa}.grid{stroke:#d1d9e0}.now{stroke:#1f2328;stroke-width:1.5}
    .new-data,.refreshing{fill:#1a7f37;stroke:#fff}.no-data{fill:#fff;stroke:#59636e;stroke-width:1.5}
    .failed{fill:none;stroke:#d1242f;stroke-width:2.5;stroke-linecap:round}
    .planned{fill:#fff;stroke:#0969da;stroke-width:1.5}.waiting{fill:#d4a72c;fill-opacity:.45}
    .opened{fill:#1f2328}.push-waits{fill:#bf8700}.quiet{fill:#59636e;fill-opacity:.14}.foreground{fill:#1a7f37;fill-opacity:.3}
    @media (prefers-color-scheme:dark){
    text{fill:#f0f6fc}.tick,.note{fill:#9198a1}.page{fill:#0d1117}.future{fill:#151b23}.grid{stroke:#2a313a}
    .now{stroke:#f0f6fc}.new-data,.refreshing{fill:#3fb950;stroke:#0d1117}.no-data{fill:#0d1117;stroke:#9198a1}
    .failed{stroke:#f85149}.planned{fill:#0d1117;stroke:#4493f8}.waiting{fill:#d29922}
    .opened{fill:#f0f6fc}.push-waits{fill:#d29922}.quiet{fill:#9198a1}.foreground{fill:#3fb950}}
    """
}

extension Timeline.Span.Kind {
  /// The kind as a class of the stylesheet.
  fileprivate var name: String {
    switch self {
    case .quiet: "quiet"
    case .foreground: "foreground"
    case .waiting: "waiting"
    }
  }

  fileprivate var height: Double {
    switch self {
    case .quiet: 24
    case .foreground: 16
    case .waiting: 10
    }
  }
}

extension Timeline.Mark.Kind {
  /// The kind as a class of the stylesheet.
  fileprivate var name: String { String(words.map { $0 == " " ? "-" : $0 }) }

  /// The path of the mark around a point; the shapes differ, for readers who do not see the colours.
  fileprivate func shape(x: Double, y: Double) -> String {
    let start = "M\(pixels(x)) \(pixels(y))"
    return switch self {
    case .newData: "\(start)m-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0z"
    case .noData: "\(start)m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z"
    case .failed: "\(start)m-4-4l8 8m0-8l-8 8"
    case .planned: "\(start)m0-5l5 5l-5 5l-5-5z"
    case .refreshing: "\(start)m-4-5l9 5l-9 5z"
    case .opened: "\(start)m-4 12l4-6l4 6z"
    case .push: "\(start)m-4-4h8v8h-8z"
    }
  }
}

/// An SVG document, built element by element.
struct SVGText {
  /// The point of a text that its position refers to.
  enum Anchor: String {
    case start, middle
  }

  private var lines: [String]

  var text: String { lines.joined(separator: "\n") + "\n</svg>\n" }

  /// Begins a document with its title, its description for screen readers, and its stylesheet.
  init(width: Double, height: Double, title: String, description: String, style: String) {
    let (width, height) = (pixels(width), pixels(height))
    lines = [
      #"<svg xmlns="http://www.w3.org/2000/svg" width="\#(width)" height="\#(height)" "#
        + #"viewBox="0 0 \#(width) \#(height)" role="img" aria-labelledby="title description">"#,
      "<title id=\"title\">\(Self.escaped(title))</title>",
      "<desc id=\"description\">\(Self.escaped(description))</desc>",
      "<style>\n\(style)\n</style>",
    ]
  }

  mutating func line(_ name: String, from: (x: Double, y: Double), to: (x: Double, y: Double)) {
    lines.append(
      #"<path class="\#(name)" d="M\#(pixels(from.x)) \#(pixels(from.y))L\#(pixels(to.x)) \#(pixels(to.y))"/>"#)
  }

  mutating func rectangle(
    _ name: String, x: Double, y: Double, width: Double, height: Double, tooltip: String? = nil
  ) {
    let size = #"width="\#(pixels(width))" height="\#(pixels(height))""#
    add(#"rect class="\#(name)" x="\#(pixels(x))" y="\#(pixels(y))" \#(size)"#, "rect", tooltip)
  }

  mutating func path(_ name: String, _ path: String, tooltip: String? = nil) {
    add(#"path class="\#(name)" d="\#(path)""#, "path", tooltip)
  }

  mutating func text(
    _ name: String, x: Double, y: Double, _ text: String, anchor: Anchor = .start, tooltip: String? = nil
  ) {
    let position = #"x="\#(pixels(x))" y="\#(pixels(y))" text-anchor="\#(anchor.rawValue)""#
    let title = tooltip.map { "<title>\(Self.escaped($0))</title>" } ?? ""
    lines.append(#"<text class="\#(name)" \#(position)>\#(title)\#(Self.escaped(text))</text>"#)
  }

  private mutating func add(_ element: String, _ name: String, _ tooltip: String?) {
    guard let tooltip else { return lines.append("<\(element)/>") }
    lines.append("<\(element)><title>\(Self.escaped(tooltip))</title></\(name)>")
  }

  private static func escaped(_ text: String) -> String {
    text.reduce(into: "") { escaped, character in
      switch character {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      default: escaped.append(character)
      }
    }
  }
}

/// A length, rounded to tenths of a pixel.
func pixels(_ length: Double) -> String {
  let tenths = Int((length * 10).rounded())
  let sign = tenths < 0 ? "-" : ""
  let (whole, part) = abs(tenths).quotientAndRemainder(dividingBy: 10)
  return part == 0 ? "\(sign)\(whole)" : "\(sign)\(whole).\(part)"
}
