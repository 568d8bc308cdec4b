import RefreshAPI
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
      table.lines(on: screen(width: 32)) == [
        "APP           LAST",
        "org…ple.mail  new data 2 min ago",
        "org.x         failed: exit code…",
      ])
  }

  @Test func aLongIDIsCutAsFarAsItIsStillAnotherOne() {
    var table = table
    table.rows = [["org.example.a-rather-long-name", "new data 2 min ago"]]
    #expect(
      table.lines(on: screen(width: 36)) == [
        "APP               LAST",
        "org…er-long-name  new data 2 min ago",
      ])
    table.rows = [["org.example.mail", "new data 2 min ago"], ["com.example.mail", "new data 2 min ago"]]
    #expect(table.lines(on: screen(width: 32)).suffix(2).map { $0.prefix(12) } == ["org…ple.mail", "com…ple.mail"])
    // Two ids that would look alike are not cut.
    table.rows = [["org.example.mail", "new data 2 min ago"], ["org.anybody.mail", "new data 2 min ago"]]
    #expect(table.lines(on: screen(width: 32)).suffix(2).allSatisfy { $0.hasPrefix("org.") || $0.hasPrefix("org…") })
    #expect(Set(table.lines(on: screen(width: 32)).suffix(2)).count == 2)
  }

  @Test func whereARowWouldLoseAUnitEachRowIsSeveralLines() {
    #expect(
      table.lines(on: screen(width: 24)) == [
        "org.example.mail",
        "  LAST",
        "    new data 2 min ago",
        "org.x",
        "  LAST",
        "    failed: exit code 3",
      ])
    var wide = Table(titles: ["APP", "PHASE", "NEXT", "LAST"], prose: 3)
    wide.rows = [["org.example.mail", "background", "in 1 h 40 min", ""]]
    #expect(
      wide.lines(on: screen(width: 40)) == [
        "org.example.mail", "  PHASE   background", "  NEXT    in 1 h 40 min",
      ])
  }

  @Test func proseBeforeOtherColumnsHasABoundInAFileAndInAPipe() {
    var table = Table(titles: ["APP", "LAST", "AGE"], prose: 1)
    table.rows = [["org.x", Cell(String(repeating: "long ", count: 100)), "1 h"]]
    #expect(table.lines(on: screen()).allSatisfy { $0.count <= 80 })
  }

  @Test func wideCharactersAreCountedAsTheTerminalShowsThem() {
    #expect(TextWidth.of("写真") == 4 && TextWidth.of("e\u{301}") == 1 && TextWidth.of("👩‍🚀") == 2)
    #expect(TextWidth.of("\u{1B}[31mab\u{1B}[0m") == 2)
    var table = Table(titles: ["NAME", "LAST"], prose: 1)
    table.rows = [["写真アルバム", "a"], ["mail", "写真アルバム写真アルバム"]]
    #expect(
      table.lines(on: screen(width: 30)) == [
        "NAME          LAST", "写真アルバム  a", "mail          写真アルバム写…",
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

  @Test func `An interval that was just set is never cut`() {
    let set = interval("2h", span(h: 2), insteadOf: "24h")
    let apps = ["org.example.a", "org.example.b"].map {
      Wire.Intervals(app: $0, foreground: interval("5min", span(m: 5)), background: set)
    }
    let words = "2h, set by `refreshctl set`; the file says 24h"
    for width in [60, 80, 200] {
      let lines = screen(width: width).text(apps).joined(separator: " ")
      let text = lines.split(separator: " ").joined(separator: " ")
      #expect(text.split(separator: words, omittingEmptySubsequences: false).count == 3, "\(text)")
    }
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
