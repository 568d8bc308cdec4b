import FoundationEssentials
import Testing

/// A type's name is found once, so that a search for it leads to one place.
struct TypeNameTests {
  let repository = Repository()
  private static let keywords = ["struct ", "class ", "enum ", "actor ", "protocol ", "typealias "]

  @Test func topLevelTypesHaveNamesOfTheirOwn() throws {
    let places = Dictionary(grouping: try types().filter(\.isTopLevel), by: \.name)
    #expect(places.count > 500)
    for (name, declared) in places.sorted(by: { $0.key < $1.key }) where declared.count > 1 {
      Issue.record(
        "\(name) is declared in \(declared.map(\.place).joined(separator: " and ")); give the less central one a name with its subject"
      )
    }
  }

  /// A nested type is read with the outer type, as in `Connection.State`; no top-level type is called State.
  ///
  /// The generator of the wire's types is a program of the build and is exempt.
  @Test func typesWithinOthersHaveNoNameOfTheTopLevel() throws {
    let types = try types().filter { !$0.place.hasPrefix("Sources/varlink-swift/") }
    let topLevel = Dictionary(grouping: types.filter(\.isTopLevel), by: \.name)
    for type in types where !type.isTopLevel {
      for other in topLevel[type.name] ?? [] {
        Issue.record(
          "\(type.place) has the name \(type.name) of \(other.place); give the inner one a name with its subject")
      }
    }
  }

  private struct Declared {
    let name: String
    let isTopLevel: Bool
    let place: String
  }

  private func types() throws -> [Declared] {
    var types: [Declared] = []
    for file in try repository.files(below: "Sources", ending: ".swift") {
      let bytes = try repository.bytes(of: file)
      for keyword in Self.keywords {
        bytes.forEachOccurrence(of: keyword) { offset in
          let line = bytes.line(at: offset)
          guard let name = Self.name(in: line, keyword: keyword) else { return }
          types.append(
            Declared(
              name: name, isTopLevel: line.first != " ", place: "\(file):\(bytes.lineNumber(at: offset))"))
        }
      }
    }
    return types
  }

  /// The name of the type that a line declares; nil for another line.
  private static func name(in line: String, keyword: String) -> String? {
    let line = line.drop { $0 == " " }
    guard let range = line.firstRange(of: keyword) else { return nil }
    let modifiers = line[..<range.lowerBound].split(separator: " ")
    let known = ["public", "package", "internal", "private", "fileprivate", "final", "indirect", "open", "distributed"]
    guard modifiers.allSatisfy({ known.contains(String($0)) || $0.hasPrefix("@") }) else { return nil }
    let name = line[range.upperBound...].prefix { $0.isLetter || $0.isNumber || $0 == "_" }
    return name.first?.isUppercase == true ? String(name) : nil
  }
}
