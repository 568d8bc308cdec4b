import FoundationEssentials
import Testing

/// Pages, and the references to them, have their targets.
struct DocsTests {
  let repository = Repository()

  @Test func everyReferenceToAPageHasItsTarget() throws {
    for file in try filesThatRefer() {
      let bytes = try repository.bytes(of: file)
      var references: [(String, Int)] = []
      bytes.forEachOccurrence(of: "docs/") { offset in
        let reference = bytes[offset...].prefix { $0.isOfReference }
        references.append((String(decoding: reference, as: UTF8.self), offset))
      }
      for (reference, offset) in references {
        let parts = reference.split(separator: "#", maxSplits: 1)
        guard let page = parts.first.map(String.init), page.hasSuffix(".md") else { continue }
        let anchor = parts.count > 1 ? String(parts[1]) : nil
        try expect(page: page, anchor: anchor, in: file, line: bytes.lineNumber(at: offset))
      }
    }
  }

  @Test func everyLinkOfAPageHasItsTarget() throws {
    for file in try repository.pages() {
      let folder = file.split(separator: "/").dropLast().joined(separator: "/")
      for link in Self.links(try repository.text(of: file)) where !link.contains("://") {
        let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let target = parts[0].isEmpty ? file : Self.resolved(parts[0], from: folder)
        let anchor = parts.count > 1 ? parts[1] : nil
        if target.hasSuffix(".md") {
          try expect(page: target, anchor: anchor, in: file, line: nil)
        } else {
          #expect(repository.exists(target), "\(file) links to \(link), which is not there; correct the link")
        }
      }
    }
  }

  /// A clone has docs/ and nothing else that explains the code.
  @Test func nothingPointsOutOfTheRepository() throws {
    let outside =
      [("DESI" + "GN", true), ("FEAT" + "URES", true), ("HAB" + "ITS", true)]
      + [("planning" + ".md", false), ("fac" + "ts/", false)]
    for file in try filesThatRefer() {
      let bytes = try repository.bytes(of: file)
      for (name, isWord) in outside {
        bytes.forEachOccurrence(of: name) { offset in
          let before = offset > 0 ? bytes[offset - 1] : 0
          let end = offset + name.utf8.count
          let after = end < bytes.count ? bytes[end] : 0
          guard !before.isOfIdentifier, !isWord || !after.isOfIdentifier else { return }
          Issue.record(
            "\(file):\(bytes.lineNumber(at: offset)) points to \(name), which a clone does not have; write the reason itself, or name a page below docs/"
          )
        }
      }
    }
  }

  private func expect(page: String, anchor: String?, in file: String, line: Int?) throws {
    let place = line.map { "\(file):\($0)" } ?? file
    guard repository.exists(page) else {
      Issue.record("\(place) refers to \(page), which is not there; name one of docs/*.md")
      return
    }
    guard let anchor else { return }
    let anchors = Self.anchors(try repository.text(of: page))
    #expect(
      anchors.contains(anchor),
      "\(place) refers to \(page)#\(anchor), which has no such heading; its headings are \(anchors.sorted())")
  }

  /// The files whose text may refer to a page, in order.
  private func filesThatRefer() throws -> [String] {
    let folders = ["Sources", "Tests", "systemd", "config", "demo", "examples", "docs", "bench"]
    let endings = [
      ".swift", ".h", ".cpp", ".c", ".varlink", ".py", ".md", ".toml", ".service", ".socket", ".conf", ".catalog",
      ".sql",
    ]
    let files = try folders.flatMap { folder in
      try repository.files(below: folder, ending: "").filter { file in endings.contains { file.hasSuffix($0) } }
    }
    return files + [
      "README.md", "CHANGELOG.md", "Makefile", "Package.swift", "demo/run", "demo/need", "Tests/with-systemd",
    ]
  }

  /// The anchors of a page: its headings in small letters, without punctuation and with hyphens for blanks.
  private static func anchors(_ text: String) -> Set<String> {
    var isCode = false
    var anchors: Set<String> = []
    for line in text.split(separator: "\n") {
      if line.hasPrefix("```") { isCode.toggle() }
      guard !isCode, line.hasPrefix("#") else { continue }
      let heading = line.drop { $0 == "#" }.drop { $0 == " " }.lowercased()
      anchors.insert(
        String(heading.map { $0 == " " ? "-" : $0 }.filter { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" }))
    }
    return anchors
  }

  /// The targets of a page's links.
  private static func links(_ text: String) -> [String] {
    text.split(separator: "](", omittingEmptySubsequences: false).dropFirst().map { rest in
      String(rest.prefix { $0 != ")" && $0 != "\n" })
    }
  }

  /// Converts a path relative to a page's folder to a path from the root.
  private static func resolved(_ path: String, from folder: String) -> String {
    var parts = folder.split(separator: "/").map(String.init)
    for part in path.split(separator: "/") {
      switch part {
      case "..": _ = parts.popLast()
      case ".": continue
      default: parts.append(String(part))
      }
    }
    return parts.joined(separator: "/")
  }
}

extension UInt8 {
  /// Whether it may be in an identifier.
  var isOfIdentifier: Bool {
    switch self {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
      true
    default: false
    }
  }

  /// Whether it may be in a reference such as `docs/push.md#the-payload`.
  fileprivate var isOfReference: Bool {
    isOfIdentifier || [UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "#")].contains(self)
  }
}
