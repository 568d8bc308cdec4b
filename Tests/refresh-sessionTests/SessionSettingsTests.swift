import RefreshAPI
import Testing

@testable import refresh_session

/// The settings from the command line and the environment.
struct SessionSettingsTests {
  private func settings(_ words: [String], runtime: String? = "/run/user/7") throws(ServiceError) -> SessionSettings {
    try SessionSettings(arguments: ["refresh-session"] + words) { $0 == "XDG_RUNTIME_DIR" ? runtime : nil }
  }

  @Test func theUsersOwnDaemonIsToldFirst() throws {
    #expect(try settings([]).sockets == [.ofUser(runtime: "/run/user/7"), .system])
    #expect(try settings([], runtime: nil).sockets == [.system])
  }

  @Test func theSocketOfTheEnvironmentComesBeforeBoth() throws {
    func settings(_ words: [String]) throws(ServiceError) -> SessionSettings {
      try SessionSettings(arguments: ["refresh-session"] + words) { $0 == "REFRESH_SOCKET" ? "/e" : nil }
    }
    #expect(try settings([]).sockets == [SocketPath(path: "/e", daemon: .named)])
    #expect(try settings(["--socket", "/s"]).sockets == [SocketPath(path: "/s", daemon: .named)])
  }

  @Test(arguments: [["--socket", "/s", "--idle-after", "60"], ["--socket=/s", "--idle-after=60"]])
  func valuesFollowABlankOrAnEqualsSign(words: [String]) throws {
    let settings = try settings(words)
    #expect(settings.sockets == [SocketPath(path: "/s", daemon: .named)])
    #expect(settings.idleAfter == 60_000)
  }

  @Test(arguments: [
    ["--colour"], ["--socket"], ["--socket="], ["--idle-after=0"], ["--idle-after", "x"], ["--list=1"],
  ])
  func wrongUseIsRefused(words: [String]) {
    let error = #expect(throws: ServiceError.self) { try settings(words) }
    #expect(error?.code == .usage)
  }
}
