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
  /// A description of the mistake, beginning with "cannot".
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
