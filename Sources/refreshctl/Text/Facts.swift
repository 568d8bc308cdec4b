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
