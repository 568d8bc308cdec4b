import RefreshAPI
import RefreshConfig
import Testing

@testable import refresh_push

/// The settings from the command line and the environment.
struct BridgeSettingsTests {
  private func settings(_ words: String..., environment: [String: String] = [:]) throws(ServiceError) -> BridgeSettings
  {
    try BridgeSettings(arguments: ["refresh-push"] + words, environment: { environment[$0] })
  }

  @Test func defaultsAreThoseOfTheSystem() throws {
    let settings = try settings(environment: ["HOME": "/root", "STATE_DIRECTORY": ""])
    #expect(settings.sources == .system)
    #expect(settings.socket.path == "/run/refreshd/org.refreshd")
    #expect(settings.stateDirectory == "/var/lib/refresh-push")
    #expect(settings.secrets == Secrets(isOfMachine: true, credentials: nil))
  }

  @Test func aUsersAreBelowTheUsersDirectories() throws {
    let environment = [
      "HOME": "/home/ann", "XDG_RUNTIME_DIR": "/run/user/7", "XDG_CONFIG_HOME": "/c", "CREDENTIALS_DIRECTORY": "/k",
    ]
    let settings = try settings("--user", environment: environment)
    #expect(settings.sources == .user(home: "/home/ann", environment: { environment[$0] }))
    #expect(settings.socket.path == "/run/user/7/refreshd/org.refreshd")
    #expect(settings.stateDirectory == "/home/ann/.local/state/refresh-push")
    #expect(settings.secrets == Secrets(isOfMachine: false, credentials: "/k"))
    #expect(throws: ServiceError.self) { try self.settings("--user") }
    #expect(try self.settings("--user", "--help").purpose == .help)
  }

  @Test func optionsGoBeforeTheEnvironment() throws {
    let settings = try settings(
      "--config", "/c", "--state=/s", "--socket", "/r", environment: ["STATE_DIRECTORY": "/var/lib/x"])
    #expect(settings.sources == .directory("/c"))
    #expect((settings.stateDirectory, settings.socket.path) == ("/s", "/r"))
  }

  @Test(arguments: [["--colour"], ["--config"], ["--config="], ["--user=1"], ["more"]])
  func wrongUseIsRefused(words: [String]) {
    let error = #expect(throws: ServiceError.self) {
      try BridgeSettings(arguments: ["refresh-push"] + words) { _ in "/x" }
    }
    #expect(error?.code == .usage)
    #expect(error?.description.contains("--help") == true)
  }
}
