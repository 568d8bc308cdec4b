import RefreshEngine
import Testing

@testable import RefreshConfig

@Suite("The task kind `transfer` starts a background download") struct DownloadTests {
  @Test("the shortest task runs the worker with default settings")
  func shortest() throws {
    let app = try FetchTests.load(#"transfer = { url = "https://example.org/map", to = "/srv/map" }"#)
    #expect(app.policy.tasks == [TaskPolicy(name: "transfer")])
    #expect(app.commands[0].arguments == ["/usr/libexec/refresh-worker", "enqueue"])
    #expect(app.commands[0].fetch == nil)
    let download = try #require(app.commands[0].download)
    #expect(download.target == "/srv/map")
    #expect(app.commands[0].builtIn?.work == .download(download, DownloadTask()))
  }

  @Test("all keys are read")
  func all() throws {
    let digest = String(repeating: "0123456789ABCDEF", count: 4)
    let app = try FetchTests.load(
      """
      [task.transfer]
      url = "https://example.org/map?token=secret"
      to = "~/map"
      session = "nightly"
      description = "The map of the city"
      notify = "The map is there"
      sha256 = "\(digest)"
      network = "any"
      priority = -5
      max_rate = "1MB"
      netrc = true
      """)
    let download = try #require(app.commands[0].download)
    #expect(download.shownURL == "https://example.org/map?…")
    #expect(download.usesNetrc)
    #expect(
      app.commands[0].builtIn?.work
        == .download(
          download,
          DownloadTask(
            session: "nightly", description: "The map of the city", sha256: digest.lowercased(), network: .any,
            priority: -5, maxRate: 1_000_000, notify: "The map is there")))
  }

  @Test("each mistake has its line and key")
  func mistakes() throws {
    #expect(
      try FetchTests.problems(
        """
        retry_exit = 3
        [task.transfer]
        url = "https://example.org/map"
        to = "/srv/map"
        session = ""
        sha256 = "abc"
        network = "metered"
        priority = 101
        max_rates = "1MB"
        """) == [
          "3: task.retry_exit: cannot judge transfer by retry_exit: it reports itself whether there is new data; "
            + "remove the key",
          "7: task.transfer.session: cannot use a text that is empty, too long or has control characters; "
            + "write 1 to 255 bytes on one line",
          #"8: task.transfer.sha256: cannot use "abc" as a SHA-256; write 64 hexadecimal digits, as sha256sum prints them"#,
          #"9: task.transfer.network: cannot use "metered" here; write "none", "any", "unmetered" or "wifi""#,
          "10: task.transfer.priority: cannot use 101: it is out of range; write -100 to 100",
          "11: task.transfer.max_rates: unknown key; did you mean task.transfer.max_rate?",
        ])
  }
}
