import Testing

/// A type's name is found once, so that a search for it leads to one place.
struct TypeNameTests {
  let repository = Repository()

  @Test func topLevelTypesHaveNamesOfTheirOwn() throws {
    var places: [Substring: [String]] = [:]
    for file in try repository.files(below: "Sources", ending: ".swift") {
      let bytes = try repository.bytes(of: file)
      for keyword in ["struct ", "class ", "enum ", "actor ", "protocol ", "typealias "] {
        bytes.forEachOccurrence(of: keyword) { offset in
          let line = bytes.line(at: offset)
          guard let name = Self.topLevelType(in: line, keyword: keyword) else { return }
          places[name, default: []].append("\(file):\(bytes.lineNumber(at: offset))")
        }
      }
    }
    #expect(places.count > 500)
    for (name, declared) in places.sorted(by: { $0.key < $1.key }) where declared.count > 1 {
      Issue.record(
        "\(name) is declared in \(declared.joined(separator: " and ")); give the less central one a name with its subject"
      )
    }
  }

  /// The name of the type that a line declares at the top level; nil for another line.
  private static func topLevelType(in line: String, keyword: String) -> Substring? {
    guard let first = line.first, first != " ", first != "/" else { return nil }
    guard let range = line.firstRange(of: keyword) else { return nil }
    let modifiers = line[..<range.lowerBound].split(separator: " ")
    let known = ["public", "package", "internal", "private", "fileprivate", "final", "indirect", "open", "distributed"]
    guard modifiers.allSatisfy({ known.contains(String($0)) || $0.hasPrefix("@") }) else { return nil }
    let name = line[range.upperBound...].prefix { $0.isLetter || $0.isNumber || $0 == "_" }
    return name.isEmpty ? nil : name
  }
}
