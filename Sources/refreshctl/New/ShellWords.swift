/// The words of a command line, as a shell splits them: at blanks, outside of quotes.
enum ShellWords {
  /// The reason why a command line is no list of words.
  enum Refusal: Error, Hashable {
    /// A quote has no end.
    case open(Character)
    /// A character has a meaning only for a shell, such as a pipe or a variable.
    case needsShell(Character)
  }

  /// The characters with a meaning for a shell outside of quotes; `~` only at the beginning of a word.
  private static let special = Set("|&;<>()$`*?[]{}#!\n")

  /// Splits a command line.
  ///
  /// Quotes and backslashes work as in sh(1); nothing is expanded.
  static func split(_ line: String) throws(Refusal) -> [String] {
    var words: [String] = []
    var word: String?
    var quote: Character?
    var rest = line[...]
    while let character = rest.popFirst() {
      if let open = quote {
        if character == open {
          quote = nil
        } else if open == "\"", character == "\\", let next = rest.first, "\"\\$`".contains(next) {
          word?.append(rest.removeFirst())
        } else if open == "\"", "$`".contains(character) {
          throw .needsShell(character)
        } else {
          word?.append(character)
        }
        continue
      }
      switch character {
      case " ", "\t":
        if let ended = word { words.append(ended) }
        word = nil
      case "'", "\"":
        quote = character
        word = word ?? ""
      case "\\":
        guard let next = rest.popFirst() else { throw .open("\\") }
        word = (word ?? "") + String(next)
      case _ where special.contains(character) || character == "~" && word == nil:
        throw .needsShell(character)
      default:
        word = (word ?? "") + String(character)
      }
    }
    if let quote { throw .open(quote) }
    if let ended = word { words.append(ended) }
    return words
  }
}
