import Testing

@testable import RefreshDaemon

@Suite struct OutputLinesTests {
  /// The pieces that arrive, and the resulting lines.
  @Test(arguments: [
    ([], []),
    ([""], []),
    (["one\n"], ["one"]),
    (["one\ntwo"], ["one", "two"]),
    (["o", "n", "e", "\n", "\n", "two\n"], ["one", "", "two"]),
    (["dos\r\n", "\r\n"], ["dos", ""]),
    (["käse"], ["käse"]),
  ])
  func outputIsSplitIntoLines(pieces: [String], lines: [String]) {
    #expect(cut(pieces.map { Array($0.utf8) }).lines == lines)
  }

  @Test func aCharacterMayArriveInPieces() {
    #expect(cut(Array("käse\n".utf8).map { [$0] }).lines == ["käse"])
  }

  @Test func brokenTextIsRepaired() {
    #expect(cut([[0x61, 0xff, 0x62, 0x0a]]).lines == ["a\u{fffd}b"])
  }

  @Test func anEndlessLineIsCutAtTheBound() {
    let long = String(repeating: "é", count: 5000)
    let (lines, _) = cut([Array(long.utf8)])
    #expect(lines.joined() == long)
    #expect(lines.dropLast().allSatisfy { (2045...2048).contains($0.utf8.count) })
  }

  @Test(arguments: [
    ("one\ntwo\n", "two"),
    ("one\n\n  \n", "one"),
    ("one\ntwo", "two"),
    ("\n\n", ""),
    (String(repeating: "x", count: 500), String(repeating: "x", count: 200)),
    ("x" + String(repeating: "é", count: 500), "x" + String(repeating: "é", count: 99)),
  ])
  func theMessageIsTheLastLineThatIsNotBlank(printed: String, message: String) {
    #expect(cut([Array(printed.utf8)]).message == message)
  }

  @Test func anEmptyLineCountsAsOutput() {
    var lines = OutputLines()
    #expect(!lines.hasPrinted)
    lines.receive([0x0a]) { _ in }
    #expect(lines.hasPrinted)
  }

  private func cut(_ pieces: [[UInt8]]) -> (lines: [String], message: String) {
    var output = OutputLines()
    var lines: [String] = []
    for piece in pieces { output.receive(piece) { lines.append(String(decoding: $0, as: UTF8.self)) } }
    output.finish { lines.append(String(decoding: $0, as: UTF8.self)) }
    return (lines, output.message)
  }
}
