import FoundationEssentials

/// The tree that the tests were built from.
struct Repository {
  let root: String

  init(file: String = #filePath) {
    root = file.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/")
  }

  func text(of path: String) throws -> String {
    try String(contentsOfFile: "\(root)/\(path)", encoding: .utf8)
  }

  /// The files below a folder with this ending, by their paths from the root, in order.
  func files(below folder: String, ending: String) throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: "\(root)/\(folder)")
      .filter { $0.hasSuffix(ending) }.map { "\(folder)/\($0)" }.sorted()
  }

  /// The lines of a file that hold code: neither comments nor blank.
  func code(of path: String) throws -> [(number: Int, text: Substring)] {
    try text(of: path).split(separator: "\n", omittingEmptySubsequences: false).enumerated().compactMap { index, line in
      let trimmed = line.drop { $0 == " " }
      return trimmed.isEmpty || trimmed.hasPrefix("//") ? nil : (index + 1, line)
    }
  }
}
