@preconcurrency import Glibc

/// The encoding of the reader's terminal and files (locale(7)).
enum Charset {
  /// Whether the encoding is UTF-8.
  static let isUTF8: Bool = {
    if let locale = newlocale(1 << LC_CTYPE, "", nil) {
      defer { freelocale(locale) }
      return nl_langinfo_l(nl_item(CODESET), locale).map { String(cString: $0) } == "UTF-8"
    }
    // The locale is not installed here, as after a login from another machine; its name contains the encoding.
    let name = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap(environmentVariable).first ?? ""
    return name.lowercased().filter { $0 != "-" }.hasSuffix("utf8")
  }()

  /// The signs of this program, each with an ASCII sign of the same width.
  private static let signs: [Character: Character] = [
    "“": "\"", "”": "\"", "…": "~", "—": "-", "×": "x", "·": ".", "↑": "^", "↓": "v", "█": "#", "▌": "=", "░": ".",
    "▁": ".", "▂": ".", "▃": ":", "▄": "-", "▅": "=", "▆": "+", "▇": "*", "●": "*", "○": "o", "◇": "+", "▶": ">",
    "━": "=", "─": "-", "│": "|", "┬": "+", "┼": "+", "▒": ":", "═": "#", "▲": "^", "◆": "$", "\u{FFFD}": "?",
  ]

  /// Converts a line to ASCII, with the same width.
  ///
  /// If a terminal shows the line (`isTerminal`), it gets a question mark for any other character. A file or a pipe
  /// gets the character itself.
  static func ascii(_ line: String, isTerminal: Bool) -> String {
    line.reduce(into: "") { text, character in
      if character.isASCII {
        text.append(character)
      } else if let sign = signs[character] {
        text.append(sign)
      } else {
        text += isTerminal ? String(repeating: "?", count: TextWidth.of(character)) : String(character)
      }
    }
  }
}

extension Screen {
  /// Converts a line to the reader's encoding.
  func encoded(_ line: String) -> String {
    isUnicode ? line : Charset.ascii(line, isTerminal: width != nil)
  }
}
