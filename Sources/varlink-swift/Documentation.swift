/// Converts a comment of an interface file to a comment of Swift.
///
/// The first sentence becomes the summary, before an empty line. A line that begins with a word in backticks and a colon
/// becomes an item of a list. Lines are wrapped to 120 columns.
enum Documentation {
  static func lines(_ comment: String, indent: String) -> [String] {
    let paragraphs = blocks(of: comment)
    guard let first = paragraphs.first else { return [] }
    let (summary, rest) = parted(first)
    var lines = wrapped(summary, indent: indent)
    var isInList = false
    for block in (rest.isEmpty ? [] : [rest]) + paragraphs.dropFirst() {
      let isItem = block.hasPrefix("- ")
      if !(isItem && isInList) { lines.append("\(indent)///") }
      lines += wrapped(block, indent: indent)
      isInList = isItem
    }
    return lines
  }

  /// The words that the items of the comment's lists explain.
  static func words(_ comment: String) -> [Word] {
    blocks(of: comment).compactMap { block in
      let parts = block.split(separator: "`", maxSplits: 2)
      guard parts.count == 3, parts[0] == "- " else { return nil }
      return Word(name: String(parts[1]), comment: String(parts[2].dropFirst(2)))
    }
  }

  /// The paragraphs and the items of lists, each on one line.
  private static func blocks(of comment: String) -> [String] {
    var blocks: [String] = []
    var isOpen = false
    for line in comment.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.allSatisfy(\.isWhitespace) {
        isOpen = false
      } else if isItem(line) {
        blocks.append("- \(line)")
        isOpen = true
      } else if isOpen, let last = blocks.indices.last {
        blocks[last] += " \(line)"
      } else {
        blocks.append(String(line))
        isOpen = true
      }
    }
    return blocks
  }

  private static func isItem(_ line: Substring) -> Bool {
    guard line.hasPrefix("`"), let end = line.dropFirst().firstIndex(of: "`") else { return false }
    return line[end...].hasPrefix("`: ")
  }

  /// The first sentence, and the text after it.
  private static func parted(_ text: String) -> (String, String) {
    var index = text.startIndex
    while let end = text[index...].firstIndex(of: ".") {
      let next = text.index(after: end)
      if next == text.endIndex { break }
      if text[next] == " ", let letter = text[next...].dropFirst().first, letter.isUppercase || letter == "`" {
        return (String(text[..<next]), String(text[next...].dropFirst()))
      }
      index = next
    }
    return (text, "")
  }

  private static func wrapped(_ text: String, indent: String) -> [String] {
    let prefix = "\(indent)/// "
    var lines: [String] = []
    var line = prefix
    for word in text.split(separator: " ") {
      if line.count + 1 + word.count > 120, line.count > prefix.count {
        lines.append(line)
        line = prefix + (text.hasPrefix("- ") ? "  " : "")
      }
      line += (line.hasSuffix(" ") ? "" : " ") + word
    }
    return lines + [line]
  }
}
