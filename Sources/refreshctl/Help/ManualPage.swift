@preconcurrency import Glibc

/// A manual page, written as `refreshd.toml(5)`.
struct ManualPage: Hashable, CustomStringConvertible, ExpressibleByStringLiteral {
  let name: String
  let section: String

  init(stringLiteral text: String) {
    let parts = text.split(separator: "(")
    name = parts.first.map(String.init) ?? text
    section = parts.dropFirst().first.map { String($0.dropLast()) } ?? "1"
  }

  var description: String { "\(name)(\(section))" }

  /// The possible files of the page below a folder of shared data, compressed or not.
  func files(below share: String) -> [String] {
    ["", ".gz", ".xz", ".zst", ".bz2"].map { "\(share)/man/man\(section)/\(name).\(section)\($0)" }
  }
}
