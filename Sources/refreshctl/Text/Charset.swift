@preconcurrency import Glibc

/// The encoding of the reader's terminal and files (locale(7)).
enum Charset {
  /// Whether it is UTF-8.
  static let isUTF8: Bool = {
    if let locale = newlocale(1 << LC_CTYPE, "", nil) {
      defer { freelocale(locale) }
      return nl_langinfo_l(nl_item(CODESET), locale).map { String(cString: $0) } == "UTF-8"
    }
    // A locale that is not installed here, as after a login from another machine: its name has the encoding.
    let name = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap(environmentVariable).first ?? ""
    return name.lowercased().filter { $0 != "-" }.hasSuffix("utf8")
  }()

  /// The signs of this program, each with one of ASCII that is as wide.
  private static let signs: [Character: Character] = [
    "“": "\"", "”": "\"", "…": "~", "—": "-", "×": "x", "·": ".", "↑": "^", "↓": "v", "█": "#", "▌": "=", "░": ".",
    "▁": ".", "▂": ".", "▃": ":", "▄": "-", "▅": "=", "▆": "+", "▇": "*", "●": "*", "○": "o", "◇": "+", "▶": ">",
    "━": "=", "─": "-", "│": "|", "┬": "+", "┼": "+", "▒": ":", "═": "#", "▲": "^", "◆": "$", "\u{FFFD}": "?",
  ]

  /// A line in ASCII, of the same width.
  ///
  /// - Parameter isTerminal: whether a terminal shows it, which gets a question mark for what ASCII lacks; a file or a
  ///   pipe gets it as it is.
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
  /// A line in the encoding of the reader.
  func encoded(_ line: String) -> String {
    isUnicode ? line : Charset.ascii(line, isTerminal: width != nil)
  }
}
