extension Screen {
  /// Formats lines for standard error: on a terminal each is wrapped with its indent; elsewhere lines stay unchanged.
  func message(_ text: String) -> String {
    guard width != nil else { return text }
    return text.split(separator: "\n", omittingEmptySubsequences: false).flatMap { line in
      let indent = String(line.prefix { $0 == " " })
      return wrapped(String(line.dropFirst(indent.count)), within: max(readableWidth - indent.count, 20)).map {
        indent + $0
      }
    }.joined(separator: "\n")
  }

  /// The text, wrapped at ``readableWidth``.
  func wrapped(_ text: String) -> [String] {
    wrapped(text, within: readableWidth)
  }

  /// The width of the screen, at most 100 columns: longer lines are hard to read.
  var readableWidth: Int { min(width ?? 100, 100) }

  /// The text, wrapped at a number of columns; a text that fits stays unchanged.
  func wrapped(_ text: String, within limit: Int) -> [String] {
    guard TextWidth.of(text) > limit else { return [text] }
    var lines: [String] = []
    var used = 0
    for word in text.split(separator: " ").flatMap({ Self.pieces(of: String($0), within: limit) }) {
      let width = TextWidth.of(word.text)
      let gap = word.isContinued ? 0 : 1
      if let line = lines.last, used + gap + width <= limit {
        lines[lines.count - 1] = line + (gap == 0 ? "" : " ") + word.text
        used += gap + width
      } else {
        lines.append(word.text)
        used = width
      }
    }
    return Self.repainted(lines)
  }

  /// A part of a text that is not broken.
  private typealias Piece = (text: String, isContinued: Bool)

  /// Splits a word: between wide characters, such as Chinese or Japanese, a line may break anywhere.
  ///
  /// A long path stays whole: the terminal wraps it, and still copies it whole.
  private static func pieces(of word: String, within limit: Int) -> [Piece] {
    guard TextWidth.of(word) > limit, word.contains(where: { TextWidth.of($0) > 1 }) else { return [(word, false)] }
    var pieces: [Piece] = []
    for character in word {
      if let last = pieces.last, TextWidth.of(character) < 2, last.text.last.map({ TextWidth.of($0) < 2 }) == true {
        pieces[pieces.count - 1].text.append(character)
      } else {
        pieces.append((String(character), !pieces.isEmpty))
      }
    }
    return pieces
  }

  /// Ends a colour at the end of each line and begins it again on the next, so that no indent is painted.
  private static func repainted(_ lines: [String]) -> [String] {
    var open = ""
    return lines.map { line in
      var painted = open + line
      for sequence in line.matches(of: #/\u{1B}\[[0-9;]*m/#) {
        open = sequence.output == "\u{1B}[0m" ? "" : String(sequence.output)
      }
      if !open.isEmpty { painted += "\u{1B}[0m" }
      return painted
    }
  }
}
