import Testing

@testable import refreshctl

/// Bytes of a terminal as keys.
@Suite struct TopKeysTests {
  private static let table: [(String, [TopKey])] = [
    ("j", [.character("j")]),
    ("jk?", [.character("j"), .character("k"), .character("?")]),
    ("\u{1B}[A\u{1B}[B", [.up, .down]),
    ("\u{1B}OA\u{1B}OB", [.up, .down]),
    ("\u{1B}[5~\u{1B}[6~", [.pageUp, .pageDown]),
    ("\u{1B}[H\u{1B}[F\u{1B}OH\u{1B}OF", [.home, .end, .home, .end]),
    ("\u{1B}[1~\u{1B}[4~\u{1B}[7~\u{1B}[8~", [.home, .end, .home, .end]),
    ("\u{1B}[1;2A", [.up]),
    ("\r\n", [.enter, .enter]),
    ("\u{7F}\u{08}", [.backspace, .backspace]),
    ("\u{0C}", [.redraw]),
    ("ü写👩", [.character("ü"), .character("写"), .character("👩")]),
    // Other keys and control characters are passed over.
    ("\u{1B}[15~\u{1B}OPx\u{01}", [.character("x")]),
    ("\u{1B}xj", [.character("j")]),
    // An Escape begins a new key.
    ("\u{1B}\u{1B}[A", [.escape, .up]),
    ("\u{1B}[12\u{1B}[B", [.down]),
  ]

  @Test(arguments: table) func bytesAreKeys(text: String, expected: [TopKey]) {
    var whole = TopKeys()
    #expect(whole.keys(in: text.utf8) == expected)
    #expect(!whole.isUndecided)
    // The same bytes may come one by one.
    var parts = TopKeys()
    #expect(text.utf8.flatMap { parts.keys(in: [$0]) } == expected)
  }

  @Test func anEscapeIsAKeyWhenNothingFollowsIt() {
    var keys = TopKeys()
    #expect(keys.keys(in: [0x1B]).isEmpty && keys.isUndecided)
    #expect(keys.decide() == [.escape] && !keys.isUndecided)
    #expect(keys.decide().isEmpty)
    // The beginning of a longer key is none.
    #expect(keys.keys(in: [0x1B, 0x5B]).isEmpty)
    #expect(keys.decide().isEmpty && !keys.isUndecided)
  }

  @Test func bytesThatAreNoTextDoNoHarm() {
    var keys = TopKeys()
    #expect(keys.keys(in: [0xFF, 0x80, 0xC3, 0x28, 0x6A]) == [.character("j")])
    // A sequence without an end is dropped.
    #expect(keys.keys(in: [0x1B, 0x5B] + Array(repeating: 0x31, count: 1000)).count < 1000)
    _ = keys.decide()
    #expect(keys.keys(in: [0x6A]) == [.character("j")])
  }
}
