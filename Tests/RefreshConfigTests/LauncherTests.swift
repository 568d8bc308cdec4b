import Testing

@testable import RefreshConfig

/// `launcher` in `refreshd.toml`.
@Suite struct LauncherTests {
  @Test func theLauncherIsChosenByWhatThereIsUnlessItIsNamed() throws {
    let scratch = { (text: String) in
      let scratch = try Scratch()
      try scratch.write("refreshd.toml", text)
      return scratch
    }
    #expect(try scratch("").load().launcher == .auto)
    for choice in LauncherChoice.allCases {
      #expect(try scratch("launcher = \"\(choice.rawValue)\"").load().launcher == choice)
    }
    #expect(
      try scratch(#"launcher = "docker""#).problems() == [
        #"refreshd.toml:1: launcher: cannot take "docker"; write "auto", "systemd" or "spawn""#
      ])
  }
}
