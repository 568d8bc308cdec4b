import RefreshConfig
import Testing

/// The source of logins and logouts (`sessions`).
@Suite("Sessions") struct SessionsTests {
  private func scratch(_ text: String) throws -> Scratch {
    let scratch = try Scratch()
    try scratch.write("refreshd.toml", text)
    return scratch
  }

  @Test("have no effect unless refreshd.toml enables them")
  func words() throws {
    #expect(try scratch("").load().sessions == .none)
    #expect(try scratch(#"sessions = "none""#).load().sessions == .none)
    #expect(try scratch(#"sessions = "logind""#).load().sessions == .logind)
    #expect(
      try scratch(#"sessions = "elogind""#).problems() == [
        #"refreshd.toml:1: sessions: cannot take "elogind"; write "none" or "logind""#
      ])
  }
}
