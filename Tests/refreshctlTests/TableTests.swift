import Testing

@testable import refreshctl

@Suite struct TableTests {
  private let table: Table = {
    var table = Table(titles: ["APP", "LAST"])
    table.rows = [["org.example.mail", "new data 2 min ago"], ["org.x", Cell("failed: exit code 3", .bad)]]
    return table
  }()

  @Test func columnsAreAligned() {
    #expect(
      table.lines(on: screen()) == [
        "APP               LAST",
        "org.example.mail  new data 2 min ago",
        "org.x             failed: exit code 3",
      ])
  }

  @Test func theWidestColumnsAreCutToTheTerminal() {
    let lines = table.lines(on: screen(width: 24))
    #expect(
      lines == [
        "APP          LAST",
        "org.exampl…  new data 2…",
        "org.x        failed: ex…",
      ])
    #expect(lines.allSatisfy { $0.count <= 24 })
  }

  @Test func coloursTakeNoRoom() {
    #expect(
      table.lines(on: screen(hasColours: true)) == [
        "\u{1B}[1mAPP\u{1B}[0m               \u{1B}[1mLAST\u{1B}[0m",
        "org.example.mail  new data 2 min ago",
        "org.x             \u{1B}[31mfailed: exit code 3\u{1B}[0m",
      ])
  }

  @Test func anEmptyCellLeavesNothingBehind() {
    var table = Table(titles: ["A", "B", "C"])
    table.rows = [["1", "", ""], ["1", "", "3"]]
    #expect(table.lines(on: screen()) == ["A  B  C", "1", "1     3"])
  }

  @Test func controlCharactersOfOthersDoNotReachTheTerminal() {
    #expect(printable("a\u{1B}[2Jb\tc\u{7F}\u{9B}ü") == "a\u{FFFD}[2Jb c\u{FFFD}\u{FFFD}ü")
  }
}
