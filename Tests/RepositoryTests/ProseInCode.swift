/// The texts for people in files of code: Python docstrings, comments of C in stars, and literals of Swift.
extension Prose {
  /// The docstrings of a Python file, by paragraphs; of a variable too.
  ///
  /// A line that is indented more than its docstring is a block of its own, as in a table.
  static func docstrings(in text: String) -> [Block] {
    let quotes = "\"\"\""
    var blocks: [Block] = []
    /// The lines of the docstring that is open, with the indentation of its first line.
    var open: (line: Int, indent: Int, text: [Substring])?
    var isInData = false
    var before: Substring = ""
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      let trimmed = line.drop { $0 == " " }
      if open != nil {
        let end = line.firstRange(of: quotes)?.lowerBound
        open?.text.append(line[..<(end ?? line.endIndex)])
        if end == nil { continue }
      } else if !isInData, trimmed.hasPrefix(quotes) || trimmed.hasPrefix("r" + quotes), !isArgument(after: before) {
        let rest = trimmed.drop { $0 == "r" }.dropFirst(quotes.count)
        let end = rest.firstRange(of: quotes)?.lowerBound
        open = (index + 1, line.count - trimmed.count, [rest[..<(end ?? rest.endIndex)]])
        if end == nil { continue }
      } else {
        if line.ranges(of: quotes).count % 2 == 1 { isInData.toggle() }
        if !trimmed.isEmpty { before = trimmed }
        continue
      }
      if let ended = open { blocks += paragraphs(of: ended.text, from: ended.line, indent: ended.indent) }
      (open, before) = (nil, trimmed)
    }
    return blocks
  }

  /// The comments of C between stars that begin on a line of their own, by paragraphs.
  static func starredComments(in text: String) -> [Block] {
    var blocks: [Block] = []
    var open: (line: Int, text: [Substring])?
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      var trimmed = line.drop { $0 == " " }
      if open == nil {
        guard trimmed.hasPrefix("/*") else { continue }
        open = (index + 1, [])
        trimmed = trimmed.dropFirst(2).drop { $0 == "*" }
      } else if trimmed.hasPrefix("*"), !trimmed.hasPrefix("*/") {
        trimmed = trimmed.dropFirst()
      }
      let end = trimmed.firstRange(of: "*/")?.lowerBound
      open?.text.append(trimmed[..<(end ?? trimmed.endIndex)].drop { $0 == " " })
      if end != nil, let ended = open {
        blocks += paragraphs(of: ended.text, from: ended.line, indent: 0)
        open = nil
      }
    }
    return blocks
  }

  /// The literals of a Swift file, with X for each interpolation; two that `+` joins over lines are one.
  static func literals(in text: String) -> [Block] {
    let quotes = "\"\"\""
    var blocks: [Block] = []
    /// The lines of the literal of many lines that is open.
    var open: (line: Int, text: [Substring])?
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      let trimmed = line.drop { $0 == " " }
      if let literal = open {
        guard trimmed.hasPrefix(quotes) else {
          open?.text.append(trimmed.hasSuffix("\\") ? trimmed.dropLast() : trimmed)
          continue
        }
        blocks += paragraphs(of: literal.text, from: literal.line, indent: 0)
        open = nil
      } else if !trimmed.hasPrefix("//") {
        let opens = trimmed.hasSuffix(quotes)
        if opens { open = (index + 2, []) }
        var found = literals(of: opens ? trimmed.dropLast(quotes.count) : trimmed)
        if trimmed.hasPrefix("+ \""), !found.isEmpty, let last = blocks.indices.last {
          blocks[last].text += found.removeFirst()
        }
        blocks += found.map { (index + 1, $0) }
      }
    }
    return blocks
  }

  /// The literals of a line of Swift.
  private static func literals(of line: Substring) -> [String] {
    var literals: [String] = []
    var literal: String?
    /// How many parentheses are open in an interpolation.
    var depth = 0
    var isEscaped = false
    for character in line {
      if depth > 0 {
        depth += character == "(" ? 1 : character == ")" ? -1 : 0
      } else if isEscaped {
        isEscaped = false
        if character == "(" { depth = 1 }
        literal?.append("X")
      } else if character == "\"" {
        if let ended = literal { literals.append(ended) }
        literal = literal == nil ? "" : nil
      } else if character == "\\", literal != nil {
        isEscaped = true
      } else {
        literal?.append(character)
      }
    }
    return literals
  }

  /// Whether a text that begins after this line is a value of its expression, and so no docstring.
  private static func isArgument(after line: Substring) -> Bool {
    line.last.map { "([{,=+\\%".contains($0) } ?? false
  }

  private static func paragraphs(of lines: [Substring], from line: Int, indent: Int) -> [Block] {
    var blocks: [Block] = []
    var isOpen = false
    for (index, text) in lines.enumerated() {
      let trimmed = text.drop { $0 == " " }
      let isTable = index > 0 && text.count - trimmed.count >= indent + 2
      if isOpen, !isTable, !trimmed.isEmpty, !trimmed.hasPrefix("- "), let last = blocks.indices.last {
        blocks[last].text += " " + trimmed
      } else if !trimmed.isEmpty {
        blocks.append((line + index, String(trimmed)))
      }
      isOpen = !trimmed.isEmpty && !isTable
    }
    return blocks
  }
}
