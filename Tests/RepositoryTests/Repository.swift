import FoundationEssentials
import Glibc

/// The tree that the tests were built from.
struct Repository {
  let root: String

  init(file: String = #filePath) {
    root = file.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/")
  }

  func text(of path: String) throws -> String {
    try String(contentsOfFile: "\(root)/\(path)", encoding: .utf8)
  }

  /// The content of a file, for searches that must be fast.
  func bytes(of path: String) throws -> Data {
    try Data(contentsOf: URL(filePath: "\(root)/\(path)"))
  }

  func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: "\(root)/\(path)") }

  /// The files below a folder with this ending, by their paths from the root, in order.
  func files(below folder: String, ending: String) throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: "\(root)/\(folder)")
      .filter { $0.hasSuffix(ending) }.map { "\(folder)/\($0)" }.sorted()
  }

  /// The pages for people: README, CHANGELOG and docs/.
  func pages() throws -> [String] {
    try ["README.md", "CHANGELOG.md", "Sources/README.md"] + files(below: "docs", ending: ".md")
  }

  /// The lines of a file that hold code: neither comments nor blank.
  func code(of path: String) throws -> [(number: Int, text: Substring)] {
    try text(of: path).split(separator: "\n", omittingEmptySubsequences: false).enumerated().compactMap { index, line in
      let trimmed = line.drop { $0 == " " }
      return trimmed.isEmpty || trimmed.hasPrefix("//") ? nil : (index + 1, line)
    }
  }
}

extension Data {
  /// Calls `body` with the offset of each occurrence of a text.
  func forEachOccurrence(of text: String, _ body: (Int) -> Void) {
    let needle = Array(text.utf8)
    guard let first = needle.first else { return }
    withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else { return }
      var offset = 0
      while offset + needle.count <= bytes.count,
        let found = memchr(start + offset, Int32(first), bytes.count - needle.count - offset + 1)
      {
        let position = UnsafeRawPointer(found) - start
        let isHere = memcmp(found, needle, needle.count) == 0
        if isHere { body(position) }
        offset = position + (isHere ? needle.count : 1)
      }
    }
  }

  /// Whether the bytes have a text; for a program of 40 MB, much faster than `firstRange(of:)` in a debug build.
  func has(_ text: String) -> Bool {
    var isFound = false
    forEachOccurrence(of: text) { _ in isFound = true }
    return isFound
  }

  /// The line that has the byte at an offset, counted from 1.
  func lineNumber(at offset: Int) -> Int { prefix(offset).count { $0 == UInt8(ascii: "\n") } + 1 }

  /// The text of the line that has the byte at an offset.
  func line(at offset: Int) -> String {
    let begin = prefix(offset).lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    return String(decoding: self[begin...].prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
  }
}
