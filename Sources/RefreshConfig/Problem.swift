/// One mistake of a configuration, with its place and what to do about it (FEATURES H8).
public struct Problem: Error, Hashable, Sendable, CustomStringConvertible {
  /// The path of the file or directory.
  public let file: String
  /// The line of the file, from 1; nil where the mistake is no line's, such as a key that is missing.
  public let line: Int?
  /// The column of the line, from 1; only for what is not TOML.
  public let column: Int?
  /// The key, with its table before it, such as `task.new_data`; nil where no key is at fault.
  public let key: String?
  /// What is wrong, beginning with "cannot".
  public let message: String
  /// What to do about it.
  public let remedy: String

  /// Makes a problem of its parts.
  public init(
    file: String, line: Int? = nil, column: Int? = nil, key: String? = nil, message: String, remedy: String
  ) {
    self.file = file
    self.line = line
    self.column = column
    self.key = key
    self.message = message
    self.remedy = remedy
  }

  /// The problem in one line, its place first in the form that editors and compilers know.
  ///
  /// Control characters, which a file may have in any text, are replaced.
  public var description: String {
    let place = [file, line.map(String.init), column.map(String.init)].compactMap(\.self).joined(separator: ":")
    let line = [place, key, "\(message); \(remedy)"].compactMap(\.self).joined(separator: ": ")
    return String(
      String.UnicodeScalarView(line.unicodeScalars.map { $0.properties.generalCategory == .control ? "\u{FFFD}" : $0 }))
  }
}

/// Every mistake of a configuration, which is therefore not in force.
public struct ConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The mistakes, one at least, by file and line.
  public let problems: [Problem]

  /// One line a problem.
  public var description: String { problems.map(\.description).joined(separator: "\n") }

  /// Makes an error of problems, which are put in the order of their files and lines.
  init(_ problems: [Problem]) {
    self.problems = problems.enumerated().sorted { left, right in
      (left.element.file, left.element.line ?? 0, left.offset)
        < (right.element.file, right.element.line ?? 0, right.offset)
    }.map(\.element)
  }
}
