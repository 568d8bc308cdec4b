import Foundation
import RefreshAPI
import RefreshEngine
import Testing

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
