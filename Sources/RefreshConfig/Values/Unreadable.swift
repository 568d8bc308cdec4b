import Glibc

/// A text or value that cannot be read, with the reason and the remedy.
public struct Unreadable: Error, Hashable, Sendable, CustomStringConvertible {
  /// The text and its mistake, beginning with "cannot".
  public let message: String
  /// The text to write instead.
  public let remedy: String

  init(_ message: String, remedy: String) { (self.message, self.remedy) = (message, remedy) }

  static func outOfBounds(_ value: String, _ lowest: String, _ highest: String) -> Unreadable {
    Unreadable("cannot take \(value): it is out of bounds", remedy: "write \(lowest) to \(highest)")
  }

  /// The mistake for a word that is not among the allowed words.
  static func noWord(_ text: String, of words: [String]) -> Unreadable {
    let words = words.map(quoted)
    return Unreadable(
      "cannot take \(quoted(text))",
      remedy: "write \(words.dropLast().joined(separator: ", ")) or \(words.suffix(1).joined())")
  }

  static func noAppID(_ text: String, example: String) -> Unreadable {
    Unreadable("cannot take \(quoted(text)) as the id of an app", remedy: "write one as in \"\(example)\"")
  }

  /// The message and the remedy in one line.
  public var description: String { "\(message); \(remedy)" }
}

/// The text in double quotes, cut to a length that fits in a message.
func quoted(_ text: some StringProtocol) -> String {
  text.unicodeScalars.count > 80 ? "\"\(text.prefix(80))…\"" : "\"\(text)\""
}

extension UInt8 {
  /// Whether the byte is an ASCII letter or digit.
  var isLetterOrDigit: Bool {
    isDigit || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self)
      || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self)
  }

  /// Whether the byte is an ASCII digit.
  var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

  /// Whether the byte is an ASCII control character.
  var isControl: Bool { self < 0x20 || self == 0x7f }

  /// Whether the byte is an ASCII character other than a space or control character.
  var isVisible: Bool { (0x21...0x7e).contains(self) }
}

extension Substring {
  /// The number in a text of digits; nil for any other text.
  var digits: UInt32? { utf8.allSatisfy(\.isDigit) ? UInt32(self) : nil }
}

extension StringProtocol {
  /// Whether the text is an absolute path or begins with `~/`.
  var isPath: Bool { (hasPrefix("/") || hasPrefix("~/")) && !utf8.contains(0) }

  /// Whether the text is such a path in the kernel's form, without a final slash.
  var isPlainPath: Bool {
    isPath && utf8.count < PATH_MAX && !utf8.contains(where: \.isControl)
      && dropFirst(hasPrefix("~/") ? 2 : 1).split(separator: "/", omittingEmptySubsequences: false)
        .allSatisfy { !["", ".", ".."].contains($0) }
  }
}
