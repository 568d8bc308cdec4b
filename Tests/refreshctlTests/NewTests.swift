import Testing

@testable import refreshctl

@Suite struct NewTests {
  @Test(
    arguments: [
      ("mbsync inbox", ["mbsync", "inbox"]), ("  a\t b  ", ["a", "b"]), ("", []),
      ("a 'b  c' \"d e\"", ["a", "b  c", "d e"]), ("a''b ''", ["ab", ""]), (#"a\ b "\"" '\'"#, ["a b", "\"", "\\"]),
      ("a '|&;<>()$`*?~'", ["a", "|&;<>()$`*?~"]), (#"a "\$x" b~c"#, ["a", "$x", "b~c"]), (#"a "\n""#, ["a", #"\n"#]),
    ] as [(String, [String])])
  func aCommandLineIsSplitAsAShellDoes(_ line: String, _ words: [String]) throws {
    #expect(try ShellWords.split(line) == words)
  }

  @Test(
    arguments: [
      ("a | b", .needsShell("|")), ("a > b", .needsShell(">")), ("a $HOME", .needsShell("$")),
      ("a \"$HOME\"", .needsShell("$")), ("a ~/b", .needsShell("~")), ("a *.txt", .needsShell("*")),
      ("a 'b", .open("'")), ("a \"b", .open("\"")), ("a \\", .open("\\")),
    ] as [(String, ShellWords.Refusal)])
  func aCommandLineThatNeedsAShellIsRefused(_ line: String, _ refusal: ShellWords.Refusal) {
    #expect(throws: refusal) { try ShellWords.split(line) }
  }

  @Test func aDraftHasItsKeysInOrderAndItsTasksAtTheEnd() {
    let draft = AppDraft(
      id: "org.example.a", name: "Ä \"a\"\\\n\u{1}", backgroundInterval: "1h", network: "wifi",
      tasks: [.run(["a", "b c"]), .shell("d | e")], newData: "output")
    #expect(
      draft.text == """
        # Written by `refreshctl new`; refreshd-app(5) has every key.

        id = "org.example.a"
        name = "Ä \\"a\\"\\\\\\n\\u0001"
        background_interval = "1h"
        network = "wifi"

        [[task]]
        run = ["a", "b c"]
        new_data = "output"

        [[task]]
        shell = "d | e"
        new_data = "output"

        """)
  }
}
