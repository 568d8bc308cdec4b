import CLinux
@preconcurrency import Glibc

/// Computes the width of text on a terminal by the C library's wcwidth(3).
enum TextWidth {
  /// The columns of a text; escape sequences for colours take none.
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
    // Terminals draw joined emoji as one; even older terminals draw a modifier onto its emoji.
    let isJoined = character.unicodeScalars.contains { $0.value == 0x200D || $0.properties.isEmojiModifier }
    return isJoined ? min(2, columns) : columns
  }

  private static func width(of scalar: Unicode.Scalar) -> Int {
    let width = wcwidth(wchar_t(scalar.value))
    return width < 0 ? 1 : Int(width)
  }

  /// A locale in which wcwidth(3) knows all of Unicode, independent of the reader's.
  private nonisolated(unsafe) static let utf8 = newlocale(1 << LC_CTYPE, "C.UTF-8", nil)

  /// The longest beginning of a text that fits into a number of columns.
  static func beginning(of text: String, columns: Int) -> String {
    var left = columns
    return String(
      text.prefix { character in
        left -= of(character)
        return left >= 0
      })
  }

  /// The text, cut at its end to a number of columns, with a mark.
  static func cutEnd(of text: String, to columns: Int) -> String {
    of(text) <= columns ? text : beginning(of: text, columns: columns - 1) + "…"
  }

  /// The text, cut at its beginning to a number of columns, with a mark, because the ends of ids differ.
  static func cutBeginning(of text: String, to columns: Int) -> String {
    guard of(text) > columns else { return text }
    return "…" + String(beginning(of: String(text.reversed()), columns: columns - 1).reversed())
  }

  /// The id of an app, cut in the middle to a number of columns, because beginning and end identify it.
  static func cutMiddle(of id: String, to columns: Int) -> String {
    guard of(id) > columns, columns > 5 else { return cutEnd(of: id, to: columns) }
    return beginning(of: id, columns: 3) + cutBeginning(of: id, to: columns - 3)
  }

  /// The text with trailing spaces, up to a number of columns.
  static func padded(_ text: String, to columns: Int) -> String {
    text + String(repeating: " ", count: max(0, columns - of(text)))
  }
}
