import ArgumentParser
import RefreshAPI
import Testing

@testable import refreshctl

@Suite struct CommandLineTests {
  @Test(
    arguments: [
      (nil, [:], [], "/run/refreshd/org.refreshd", .system),
      (nil, ["XDG_RUNTIME_DIR": "/run/user/7"], [], "/run/refreshd/org.refreshd", .system),
      (
        nil, ["XDG_RUNTIME_DIR": "/run/user/7"], ["/run/user/7/refreshd/org.refreshd"],
        "/run/user/7/refreshd/org.refreshd", .user
      ),
      (nil, ["REFRESH_SOCKET": "/a", "XDG_RUNTIME_DIR": "/b"], ["/b/refreshd/org.refreshd"], "/a", .named),
      ("/c", ["REFRESH_SOCKET": "/a"], [], "/c", .named),
    ] as [(String?, [String: String], Set<String>, String, SocketPath.DaemonKind)])
  func theSocketIsTheNamedOneElseTheUsersElseTheSystems(
    named: String?, environment: [String: String], files: Set<String>, path: String, daemon: SocketPath.DaemonKind
  ) {
    let found = SocketPath.find(named: named, environment: { environment[$0] }, exists: files.contains)
    #expect(found == SocketPath(path: path, daemon: daemon))
  }

  @Test(arguments: [
    ["list"], ["status"], ["status", "org.x.a", "--json"], ["foreground", "org.x.a", "--socket", "/s"],
    ["foreground", "org.x.a", "--while", "--", "sleep", "--help"], ["launched", "org.x.a", "--while", "--", "x"],
    ["launched", "org.x.a", "org.x.b"], ["foreground", "org.x.a", "org.x.b", "--while", "sleep", "1"],
    ["run", "org.x.a", "--trigger", "catch-up"], ["set", "org.x.a", "org.x.b", "--background", "1h 30min"],
    ["reset", "org.x.a"], ["history", "org.x.a", "--limit", "1"], ["check", "--config", "/x"], ["reload"],
    ["version", "--client"], ["complete", "no-data", "--message", "nothing"], ["synced", "org.x.a"],
    ["synced", "org.x.a", "--new-data"], ["logout", "org.x.a"],
    ["why", "org.x.a", "--json"], ["disable", "org.x.a", "org.x.b"], ["enable", "org.x.a"], ["skip", "org.x.a"],
    ["watch"], ["watch", "org.x.a", "--json"], ["pause"], ["pause", "--for", "1h 30min"], ["pause", "--until-ac"],
    ["resume"], ["metrics"], ["timeline"], ["timeline", "org.x.a", "--hours", "12", "--svg", "/x.svg"], ["forecast"],
    ["forecast", "org.x.a", "--hours", "168", "--json"],
    ["run", "org.x.a", "--after", "10min", "--reason", "before the train"],
    ["download", "org.x.a", "https://h/f", "--to", "f", "--max-rate", "1.5MB", "--priority", "-5", "--wait"],
    ["download", "org.x.a", "-", "--to", "f", "--network", "any", "--session", "s", "--sha256", "00", "--length", "1"],
    ["upload", "org.x.a", "f", "https://h/f", "--tus", "--netrc"], ["transfers"], ["transfers", "org.x.a", "--watch"],
    ["push", "org.x.a", #"{"aps":{}}"#, "--urgency", "very-low", "--id", "a/1"], ["push", "org.x.a", "-"],
    ["pause-transfer", "1"], ["resume-transfer", "1", "2"], ["cancel-transfer", "1"],
    ["prioritize-transfer", "1", "2", "--to", "-5"], ["new"], ["new", "org.x.a", "--run", "a", "--run", "b"],
    ["new", "org.x.a", "--shell", "a | b", "--every", "1h", "--network", "unmetered", "--power", "not-low", "--print"],
    [],
  ])
  func isUnderstood(_ arguments: [String]) throws {
    _ = try RefreshCtl.parseAsRoot(arguments)
  }

  @Test(
    arguments: [
      (["--socket", "/s", "list"], ["list", "--socket", "/s"]),
      (["--json", "--socket=/s", "why", "a"], ["why", "--json", "--socket=/s", "a"]),
      (["list", "--json"], ["list", "--json"]), (["--socket", "list"], ["--socket", "list"]),
      (["--socket", "/s"], ["--socket", "/s"]), (["--json", "lost"], ["--json", "lost"]), ([], []),
    ] as [([String], [String])])
  func optionsMayStandBeforeTheSubcommand(written: [String], read: [String]) {
    var arguments = written
    LeadingOptions.move(in: &arguments, behind: RefreshCtl.commandNames)
    #expect(arguments == read)
  }

  @Test(
    arguments: [
      (["--socket", "/s"], "/s"), (["--socket=/s"], "/s"), (["list", "--socket=/s"], nil), (["--socket"], nil),
      ([], nil),
    ] as [([String], String?)])
  func theOverviewTakesASocket(arguments: [String], socket: String?) {
    #expect(LeadingOptions.socketAlone(in: arguments) == socket)
  }

  @Test(arguments: [
    ["foreground", "org.x.a", "--while", "--"], ["foreground", "--while", "x"],
    ["background", "org.x.a", "--while", "--", "x"], ["run", "org.x.a", "--trigger", "catch_up"], ["set", "org.x.a"],
    ["history", "org.x.a", "--limit", "0"], ["complete", "maybe"], ["status", "a", "b"],
    ["why"], ["disable"], ["forecast", "--hours", "0"], ["forecast", "--hours", "169"], ["timeline", "--hours", "0"],
    ["timeline", "--svg", "/x.svg", "--json"], ["pause", "--for", "2x"],
    ["pause", "--for", "2h", "--until-ac"],
    ["download", "org.x.a", "https://h/f"], ["download", "org.x.a", "https://h/f", "--to", "f", "--max-rate", "fast"],
    ["upload", "org.x.a", "f", "https://h/f", "--tus", "--post"], ["pause-transfer"], ["cancel-transfer", "all"],
    ["prioritize-transfer", "1"], ["push", "org.x.a"], ["push", "org.x.a", "{}", "--urgency", "very_low"],
    ["run", "org.x.a", "--reason", "x"], ["run", "org.x.a", "--after", "1min", "--trigger", "push"],
    ["run", "org.x.a", "--trigger", "reported"], ["synced"], ["new", "--user", "--system"],
    ["new", "--user", "--socket", "/s"], ["new", "org.x.a", "--network", "wired"],
  ])
  func isRefusedAsUsage(_ arguments: [String]) {
    do {
      _ = try RefreshCtl.parseAsRoot(arguments)
      Issue.record("was understood")
    } catch {
      #expect(RefreshCtl.exitCode(for: error).rawValue == ExitStatus.usage.rawValue)
    }
  }

  @Test func theCommandOfALeaseIsNotParsed() throws {
    let command = try RefreshCtl.parseAsRoot([
      "foreground", "org.x.a", "org.x.b", "--while", "--", "sh", "-c", "--json", "--", "x",
    ])
    let foreground = try #require(command as? ForegroundCommand)
    #expect(foreground.lease.command == ["sh", "-c", "--json", "--", "x"])
    #expect(foreground.arguments.apps == ["org.x.a", "org.x.b"])
    #expect(!foreground.arguments.connection.json)
  }

  @Test func theHelpListsEveryExitStatus() {
    let help = RefreshCtl.helpMessage(columns: 200)
    for status in ExitStatus.allCases {
      #expect(help.contains(" \(status.rawValue)  \(status.meaning)"))
    }
  }
}
