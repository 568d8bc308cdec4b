import CLinux
@preconcurrency import Glibc

/// The widths of text on a terminal, by the C library's wcwidth(3).
enum TextWidth {
  /// The columns that a text takes; escape sequences that select colours take none.
  static func of(_ text: some StringProtocol) -> Int {
    if !text.utf8.contains(where: { $0 == 0x1B || $0 >= 0x80 }) { return text.utf8.count }
    var columns = 0
    var isEscape = false
    for character in text {
      if isEscape {
        isEscape = character != "m"
      } else if character == "\u{1B}" {
        isEscape = true
      } else {
        columns += of(character)
      }
    }
    return columns
  }

  /// The columns that a character takes.
  static func of(_ character: Character) -> Int {
    if character.isASCII { return 1 }
    let before = uselocale(utf8)
    defer { uselocale(before) }
    let columns = character.unicodeScalars.reduce(0) { $0 + width(of: $1) }
    // Terminals draw joined emoji as one, and have drawn their modifiers onto them for longer.
    let isJoined = character.unicodeScalars.contains { $0.value == 0x200D || $0.properties.isEmojiModifier }
    return isJoined ? min(2, columns) : columns
  }

  private static func width(of scalar: Unicode.Scalar) -> Int {
    let width = wcwidth(wchar_t(scalar.value))
    return width < 0 ? 1 : Int(width)
  }

  /// A locale in which wcwidth(3) knows all of Unicode, whatever the reader's is.
  private nonisolated(unsafe) static let utf8 = newlocale(1 << LC_CTYPE, "C.UTF-8", nil)

  /// The longest beginning of a text that fits into some columns.
  static func beginning(of text: String, columns: Int) -> String {
    var left = columns
    return String(
      text.prefix { character in
        left -= of(character)
        return left >= 0
      })
  }

  /// A text cut to some columns at its end, with a mark.
  static func cutEnd(of text: String, to columns: Int) -> String {
    of(text) <= columns ? text : beginning(of: text, columns: columns - 1) + "…"
  }

  /// A text cut to some columns at its beginning, with a mark: the end tells the ids of apps apart.
  static func cutBeginning(of text: String, to columns: Int) -> String {
    guard of(text) > columns else { return text }
    return "…" + String(beginning(of: String(text.reversed()), columns: columns - 1).reversed())
  }

  /// The id of an app cut to some columns: its beginning and, for the most part, its end tell it from others.
  static func cutMiddle(of id: String, to columns: Int) -> String {
    guard of(id) > columns, columns > 5 else { return cutEnd(of: id, to: columns) }
    return beginning(of: id, columns: 3) + cutBeginning(of: id, to: columns - 3)
  }

  /// A text with spaces behind it, up to some columns.
  static func padded(_ text: String, to columns: Int) -> String {
    text + String(repeating: " ", count: max(0, columns - of(text)))
  }
}
