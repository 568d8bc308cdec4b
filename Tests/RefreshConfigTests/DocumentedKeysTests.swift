import Foundation
import RefreshAPI
import RefreshConfig
import RefreshEngine
import Testing

/// docs/configuration.md, and so the manual pages, say of each key what the programs make of it.
@Suite("The page of the configuration") struct DocumentedKeysTests {
  @Test("has every key that the programs know, and no other", arguments: DocumentedTable.all)
  func keys(table: DocumentedTable) throws {
    let refusal = try refusal(of: "no_key_is_like_this_one = 1", in: table)
    let known = try #require(refusal.components(separatedBy: "the keys here are ").dropFirst().first)
    let documented = try table.rows().flatMap(\.keys) + table.others
    #expect(
      Set(documented).subtracting(table.ofOtherKinds).sorted() == known.split(separator: ", ").map(String.init).sorted()
    )
  }

  @Test("has the default of every key", arguments: DocumentedTable.all.filter { !$0.isFilledInLater })
  func defaults(table: DocumentedTable) throws {
    let scratch = try Scratch()
    for row in try table.rows() {
      guard let value = row.defaultValue else { continue }
      for key in row.keys where !table.ofOtherKinds.contains(key) {
        let beside = table.needs[key] ?? ""
        let without = try loaded(table, with: beside, in: scratch)
        #expect(
          try loaded(table, with: "\(beside)\(key) = \(value)", in: scratch) == without,
          "\(table.heading): \(key) = \(value)")
      }
    }
  }

  @Test("has the bounds of every number, duration and size", arguments: DocumentedTable.all)
  func bounds(table: DocumentedTable) throws {
    for row in try table.rows() {
      guard let bounds = row.bounds else { continue }
      // A key cannot be written twice.
      for key in row.keys where !table.text.contains("\n\(key) = ") {
        for value in bounds.inside {
          #expect(throws: Never.self, "\(table.heading): \(key) = \(value) is inside") {
            try loaded(table, with: "\(table.needs[key] ?? "")\(key) = \(value)", in: Scratch())
          }
        }
        for value in bounds.outside {
          let refusal = try refusal(of: "\(table.needs[key] ?? "")\(key) = \(value)", in: table)
          #expect(!refusal.isEmpty, "\(table.heading): \(key) = \(value) is outside")
        }
      }
    }
  }

  @Test("is read whole by these tests")
  func isRead() throws {
    let tables = DocumentedTable.all
    let rows = try tables.flatMap { try $0.rows() }
    #expect(rows.flatMap(\.keys).count > 130)
    #expect(rows.compactMap(\.defaultValue).count > 50)
    #expect(rows.compactMap(\.bounds).count > 25)
  }

  /// The configuration and the sources that the programs read from a file with this line.
  private func loaded(_ table: DocumentedTable, with line: String, in scratch: Scratch) throws -> Loaded {
    try write(table, with: line, to: scratch)
    return Loaded(configuration: try scratch.load(as: FetchTests.reader), sources: try scratch.sources())
  }

  private func refusal(of line: String, in table: DocumentedTable) throws -> String {
    let scratch = try Scratch()
    try write(table, with: line, to: scratch)
    return (scratch.problems(as: FetchTests.reader) + scratch.pushProblems()).joined(separator: "\n")
  }

  private func write(_ table: DocumentedTable, with line: String, to scratch: Scratch) throws {
    let text = table.text(with: line)
    if table.file == "push.toml" { try scratch.writePush(text) } else { try scratch.write(table.file, text) }
    if table.file == "refreshd.toml" { try scratch.write("apps.d/a.b.toml", ShippedFilesTests.app) }
  }

  private struct Loaded: Equatable {
    let configuration: Configuration
    let sources: [PushSource]
  }
}

/// The bounds in a cell of a table, such as `1 s to 24 h`, as values of TOML at and beyond them.
struct DocumentedBounds {
  let inside: [String]
  let outside: [String]

  /// Reads a cell; nil if it has anything else than two bounds.
  init?(_ cell: String) {
    let ends = cell.replacing("−", with: "-").components(separatedBy: " to ")
    guard ends.count == 2 else { return nil }
    if let low = Int(ends[0]), let high = Int(ends[1]) {
      (inside, outside) = (["\(low)", "\(high)"], ["\(low - 1)", "\(high + 1)"])
    } else if let low = Double(ends[0]), let high = Double(ends[1]) {
      (inside, outside) = (["\(low)", "\(high)"], ["\(low - 0.001)", "\(high + 0.001)"])
    } else if let low = Self.milliseconds(ends[0]), let high = Self.milliseconds(ends[1]) {
      inside = ["\"\(low)ms\"", "\"\(high)ms\""]
      outside = (low > 0 ? ["\"\(low - 1)ms\""] : []) + ["\"\(high + 1)ms\""]
    } else if let low = Self.kibibytes(ends[0]), let high = Self.kibibytes(ends[1]) {
      inside = ["\"\(low)K\"", "\"\(high)K\""]
      outside = ["\"\(low * 1024 - 1)\"", "\"\(high * 1024 + 1)\""]
    } else {
      return nil
    }
  }

  private static func milliseconds(_ text: String) -> Int? {
    let units = ["ms": 1, "s": 1000, "min": 60_000, "h": 3_600_000, "d": 86_400_000, "y": 31_557_600_000]
    if text == "0" { return 0 }
    let words = text.split(separator: " ")
    guard words.count == 2, let number = Int(words[0]), let unit = units[String(words[1])] else { return nil }
    return number * unit
  }

  private static func kibibytes(_ text: String) -> Int? { text.hasSuffix("K") ? Int(text.dropLast()) : nil }
}

/// docs/scheduling.md and the interface file name every hold, in the order of the engine.
@Suite("The list of holds") struct DocumentedHoldsTests {
  private static let names = Hold.Name.allCases.map(\.rawValue)

  @Test("is whole in the interface file") func interfaceFile() throws {
    let type = try #require(ManagerInterface.description.components(separatedBy: "\ntype Hold (").dropFirst().first)
    #expect(Self.quoted(type.components(separatedBy: "\n  name: string")[0]) == Self.names)
  }

  @Test("is whole in the page") func page() throws {
    let page = try DocumentedTable.page("scheduling.md")
    let table = try #require(page.components(separatedBy: "\n| hold | what lifts it |\n").dropFirst().first)
    let rows = table.components(separatedBy: "\n\n")[0].split(separator: "\n")
    #expect(rows.compactMap { $0.split(separator: "|").first }.flatMap(Self.quoted) == Self.names)
  }

  /// The texts between backticks.
  private static func quoted(_ text: some StringProtocol) -> [String] {
    text.components(separatedBy: "`").enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
  }
}
