import Testing

@testable import RefreshDaemon

@Suite struct LoginTests {
  @Test(
    arguments: [
      ("user", true), ("user-early", true), ("user-incomplete", true), ("user-light", true), ("greeter", false),
      ("lock-screen", false), ("background", false), ("background-light", false), ("manager", false),
      ("manager-early", false),
    ])
  func onlySessionsOfPeopleCount(name: String, counts: Bool) {
    #expect(LoginTracker.counts(name) == counts)
  }
}
