import Testing

@testable import refresh_session

/// The windows in a text of the script in KWin.
@Suite struct KWinScriptFileTests {
  @Test func `A window has a state and names`() {
    let windows = KWinScriptFile.windows(in: #"[[2,77,"org.kde.kate","kate"],[1,0,"mail"],[0,0,"a\"b"]]"#)
    #expect(
      windows == [
        OpenWindow(names: ["org.kde.kate", "kate"], isFocused: true, isMinimised: false, process: 77),
        OpenWindow(names: ["mail"], isFocused: false, isMinimised: false),
        OpenWindow(names: ["a\"b"], isFocused: false, isMinimised: true),
      ])
  }

  @Test(arguments: ["", "{}", "[", "null", "[[2,0,\"mail\"]]x"])
  func `Text of another form is not taken`(text: String) {
    #expect(KWinScriptFile.windows(in: text) == nil)
  }

  @Test func `A row of another form is left out, and a name that is too long`() {
    let long = String(repeating: "a", count: OpenWindow.longestName + 1)
    let windows = KWinScriptFile.windows(
      in: #"[7,[],[1],[9,0,"x"],["2",0,"x"],[1,0.5,"x"],[1,0,5,"mail","\#(long)",""]]"#)
    #expect(windows == [OpenWindow(names: ["mail"], isFocused: false, isMinimised: false)])
  }

  @Test func `No more windows are kept than the bound`() {
    let rows = (0..<OpenWindow.most + 10).map { #"[1,0,"app\#($0)"]"# }.joined(separator: ",")
    #expect(KWinScriptFile.windows(in: "[\(rows)]")?.count == OpenWindow.most)
  }
}
