import Testing

@testable import refreshctl

@Suite struct TableTests {
  private let table: Table = {
    var table = Table(titles: ["APP", "LAST"], prose: 1)
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

  @Test func proseIsCutToTheTerminal() {
    #expect(
      table.lines(on: screen(width: 26)) == [
        "APP               LAST",
        "org.example.mail  new dat…",
        "org.x             failed:…",
      ])
  }

  @Test func theWidestColumnIsCutNext() {
    #expect(
      table.lines(on: screen(width: 18)) == [
        "APP         LAST",
        "org.examp…  new d…",
        "org.x       faile…",
      ])
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
    var table = Table(titles: ["A", "B", "C"], prose: 2)
    table.rows = [["1", "", ""], ["1", "", "3"]]
    #expect(table.lines(on: screen()) == ["A  B  C", "1", "1     3"])
  }

  @Test func controlCharactersDoNotReachTheTerminal() {
    #expect(printable("a\u{1B}[2Jb\tc\u{7F}\u{9B}ü") == "a\u{FFFD}[2Jb c\u{FFFD}\u{FFFD}ü")
    #expect(printable("a\u{202E}b\u{2066}c\u{200F}👩‍🚀") == "a\u{FFFD}b\u{FFFD}c\u{FFFD}👩‍🚀")
  }
}
