import Glibc
import RefreshAPI

/// A mistake of a configuration, with its location and remedy.
public struct Problem: Error, Hashable, Sendable, CustomStringConvertible {
  /// The path of the file or directory.
  public let file: String
  /// The line of the file, from 1; nil if the mistake has no line, such as a missing key.
  public let line: Int?
  /// The column of the line, from 1; only for text that is not TOML.
  public let column: Int?
  /// The key with its table, such as `task.new_data`; nil if the mistake has no key.
  public let key: String?
  /// What is wrong, and why, without the remedy.
  public let message: String
  /// The remedy.
  public let remedy: String
  /// Whether the configuration is in force despite the problem.
  public let isWarning: Bool

  /// Makes a problem from its parts.
  public init(
    file: String, line: Int? = nil, column: Int? = nil, key: String? = nil, message: String, remedy: String,
    isWarning: Bool = false
  ) {
    self.file = file
    self.line = line
    self.column = column
    self.key = key
    self.message = message
    self.remedy = remedy
    self.isWarning = isWarning
  }

  /// The problem in one line, with its location first in the form that editors and compilers use.
  ///
  /// Control characters, which a text of the file may contain, are replaced.
  public var description: String {
    let location = [file, line.map(String.init), column.map(String.init)].compactMap(\.self).joined(separator: ":")
    let line = [location, key, "\(message); \(remedy)"].compactMap(\.self).joined(separator: ": ")
    return String(
      String.UnicodeScalarView(line.unicodeScalars.map { $0.properties.generalCategory == .control ? "\u{FFFD}" : $0 }))
  }
}

/// The mistakes that keep a configuration from being in force.
public struct ConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The mistakes, at least one, by file and line.
  public let problems: [Problem]

  /// A line for each problem.
  public var description: String { problems.map(\.description).joined(separator: "\n") }

  /// Makes an error of one problem.
  public init(_ problem: Problem) { problems = [problem] }

  /// Makes an error from problems, and sorts them by file and line.
  init(_ problems: [Problem]) {
    self.problems = problems.enumerated().sorted { left, right in
      (left.element.file, left.element.line ?? 0, left.offset)
        < (right.element.file, right.element.line ?? 0, right.offset)
    }.map(\.element)
  }
}

extension Wire.Problem {
  /// The problem as the socket shows it.
  public init(_ problem: Problem) {
    self.init(
      file: problem.file, line: problem.line, column: problem.column, key: problem.key, message: problem.message,
      remedy: problem.remedy, isWarning: problem.isWarning ? true : nil)
  }
}

/// A text or value that cannot be read, with the reason and the remedy.
public struct Unreadable: Error, Hashable, Sendable, CustomStringConvertible {
  /// What is wrong, and why, without the remedy.
  public let message: String
  /// The text to write instead.
  public let remedy: String

  init(_ message: String, remedy: String) { (self.message, self.remedy) = (message, remedy) }

  static func outOfBounds(_ value: String, _ lowest: String, _ highest: String) -> Unreadable {
    Unreadable("cannot use \(value): it is out of range", remedy: "write \(lowest) to \(highest)")
  }

  /// The mistake for a word that is not among the allowed words.
  static func noWord(_ text: String, of words: [String]) -> Unreadable {
    let words = words.map(quoted)
    return Unreadable(
      "cannot use \(quoted(text)) here",
      remedy: "write \(words.dropLast().joined(separator: ", ")) or \(words.suffix(1).joined())")
  }

  static func noAppID(_ text: String, example: String) -> Unreadable {
    Unreadable("cannot use \(quoted(text)) as an app id", remedy: "write one as in \"\(example)\"")
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
