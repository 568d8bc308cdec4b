import RefreshEngine
import Testing

@testable import RefreshConfig

@Suite("The task kind `http` fetches a URL into a file") struct FetchTests {
  static let reader = Reader(
    uid: 0, isProgram: { $0.hasPrefix("/usr/") }, workers: ["/opt/refresh-worker", "/usr/libexec/refresh-worker"])

  /// The app of a file with one task.
  static func load(_ task: String) throws -> AppConfiguration {
    let scratch = try Scratch()
    try scratch.write("apps.d/x.toml", "id = \"a.b\"\n[[task]]\n\(task)\n")
    return try #require(try scratch.load(as: reader).apps.first)
  }

  /// The problems of a task whose first line is the third of the file.
  static func problems(_ task: String, as reader: Reader = reader) throws -> [String] {
    let scratch = try Scratch()
    try scratch.write("apps.d/x.toml", "id = \"a.b\"\n[[task]]\n\(task)\n")
    return scratch.problems(as: reader).map { $0.replacing("apps.d/x.toml:", with: "") }
  }

  @Test("the shortest task runs the worker and has the name http")
  func shortest() throws {
    let app = try Self.load(#"http = { url = "https://example.org/feed.xml", to = "/srv/feed.xml" }"#)
    #expect(app.policy.tasks == [TaskPolicy(name: "http")])
    #expect(app.commands[0].arguments == ["/usr/libexec/refresh-worker", "http"])
    let fetch = try #require(app.commands[0].fetch)
    #expect(
      fetch
        == RemoteFile(url: "https://example.org/feed.xml", target: "/srv/feed.xml", usesNetrc: false))
    #expect(app.commands[0].builtIn?.work == .fetch(fetch, mostBytes: 100_000_000))
  }

  @Test("all keys are read, and ~/ is the owner's home")
  func all() throws {
    let app = try Self.load(
      """
      name = "feed"
      [task.http]
      url = "https://anna:secret@example.org/feed?token=secret#top"
      to = "~/feed.xml"
      headers_file = "/etc/feed.headers"
      credential_file = "~/feed.credential"
      max_size = "1.5MiB"
      """)
    let fetch = try #require(app.commands[0].fetch)
    #expect(app.policy.tasks[0].name == "feed")
    #expect(fetch.target == "\(app.owner.home)/feed.xml")
    #expect(fetch.headersFile == "/etc/feed.headers")
    #expect(fetch.credentialFile == "\(app.owner.home)/feed.credential")
    #expect(app.commands[0].builtIn?.work == .fetch(fetch, mostBytes: 1_572_864))
    #expect(fetch.shownURL == "https://example.org/feed?…")
    #expect(
      try Self.load(#"http = { url = "http://[::1]:8080", to = "/a", netrc = true }"#).commands[0].fetch?.usesNetrc
        == true)
  }

  @Test("each mistake has its line and key, and shows nothing of the URL")
  func mistakes() throws {
    #expect(
      try Self.problems(
        """
        new_data = "output"
        [task.http]
        url = "ftp://anna:secret@example.org/"
        to = "/srv/../etc/passwd"
        netrc = true
        credential_file = "relative"
        max_size = "much"
        form = "x"
        """) == [
          "3: task.new_data: cannot judge http by new_data: it reports itself whether there is new data; "
            + "remove the key",
          #"5: task.http.url: cannot use a URL with the scheme "ftp"; write http:// or https:// before the host"#,
          #"6: task.http.to: cannot use "/srv/../etc/passwd" as a file: the path contains an empty part, "." or ".."; "#
            + "write the path without it",
          "7: task.http.netrc: cannot read user and password from two files; use either netrc or credential_file",
          #"8: task.http.credential_file: cannot use "relative" as a file: the path is not absolute; "#
            + "begin with a slash",
          #"9: task.http.max_size: cannot read "much" as an amount of data; write for example "100MB" or "1GiB""#,
          "10: task.http.form: unknown key; the keys here are "
            + "credential_file, headers_file, max_size, netrc, to, url",
        ])
  }

  @Test("a fetch without a URL or a path, or together with a command, is refused")
  func missing() throws {
    let example = #"http = { url = "https://example.org/feed.xml", to = "/srv/feed.xml" }"#
    #expect(
      try Self.problems("http = {}") == [
        "3: task.http.url: cannot fetch without a URL; write for example \(example)",
        "3: task.http.to: cannot fetch without a path to save to; write for example \(example)",
      ])
    #expect(
      try Self.problems("run = [\"/usr/bin/true\"]\n\(example)") == [
        "2: cannot run both run and http; write one of run = [\"PROGRAM\", \"ARGUMENT\"], shell = \"COMMAND\", "
          + "http = { url = \"URL\", to = \"/PATH\" }, transfer = { url = \"URL\", to = \"/PATH\" }, "
          + "replicate = { source = \"URL\", target = \"URL\" }, unit = \"mbsync.service\" and activate = \"org.example.Notes\""
      ])
    #expect(
      try Self.problems("http = \"https://example.org/\"") == [
        "3: task.http: cannot use a string here; write for example \(example)"
      ])
  }

  @Test("two fetches of an app need two files")
  func sharedTarget() throws {
    let scratch = try Scratch()
    try scratch.write(
      "apps.d/x.toml",
      """
      id = "a.b"
      [[task]]
      http = { url = "https://example.org/1", to = "/srv/feed.xml" }
      [[task]]
      http = { url = "https://example.org/2", to = "/srv/feed.xml" }
      """)
    #expect(
      scratch.problems(as: Self.reader) == [
        #"apps.d/x.toml:5: task.http: cannot save two files to "/srv/feed.xml"; give each file its own path"#
      ])
  }

  @Test("a missing worker is a mistake of the file that needs it")
  func noWorker() throws {
    #expect(
      try Self.problems(
        #"http = { url = "https://example.org/", to = "/srv/feed.xml" }"#,
        as: Reader(uid: 0, isProgram: { _ in false }, workers: Reader.workers(besides: "/usr/bin/refreshd"))) == [
          #"3: task.http: cannot find refresh-worker, which runs this task, at "/usr/bin/refresh-worker" or "#
            + #""/usr/libexec/refreshd/refresh-worker"; install it there"#
        ])
  }

  @Test(
    "the shown URL has no secrets, and limits use the host",
    arguments: [
      ("https://example.org", "https://example.org", "example.org"),
      ("HTTPS://u:p@Example.ORG:8443/a/b?c=d#e", "https://Example.ORG:8443/a/b?…", "example.org:8443"),
      ("http://u:p@h/@x", "http://h/@x", "h"), ("http://a:b@c@h/", "http://h/", "h"),
      ("http://[fe80::1%25eth0]:1/x?", "http://[fe80::1%25eth0]:1/x?…", "[fe80::1%25eth0]:1"),
      ("http://h#top", "http://h", "h"), ("http://h.:80/", "http://h.:80/", "h"),
      ("https://h:443/", "https://h:443/", "h"), ("https://h:80/", "https://h:80/", "h:80"),
      ("http://[::1]/", "http://[::1]/", "[::1]"), ("http://[::1]:080/", "http://[::1]:080/", "[::1]"),
    ])
  func shown(text: String, shown: String, host: String) throws {
    let url = try HTTPURL(text)
    #expect(url.shown == shown)
    #expect(url.host == host)
  }

  @Test(
    "an invalid URL is refused, and the message does not contain it",
    arguments: [
      "", "example.org", "//example.org/", "http:/example.org", "http://", "http://secret@", "http://:80/",
      "http://h:0/", "http://h:65536/", "http://h:8o/", "http://[::1", "http://[h]/", "http://h/a b", "http://h/\n",
      "http://h/ä", "file:///etc/passwd", "http://h\\@g/", "http://" + String(repeating: "h", count: 9000),
    ])
  func refused(text: String) throws {
    #expect(throws: Unreadable.self) { try HTTPURL(text) }
    do { _ = try HTTPURL(text) } catch { #expect(!"\(error)".contains("secret")) }
  }

  @Test(
    "amounts of data are read with all units",
    arguments: [
      ("1", 1), ("5000000000", 5_000_000_000), ("10B", 10), ("1kB", 1000), ("100 MB", 100_000_000),
      ("1.25GB", 1_250_000_000),
      ("512K", 524_288), ("1.5MiB", 1_572_864), ("0.001kB", 1),
    ])
  func sizes(text: String, bytes: Int64) throws {
    #expect(try ByteSizes.bytes(text) == bytes)
  }

  @Test(
    "an invalid amount of data is refused",
    arguments: ["", "0", "0.0001MB", "-1", "1.", ".5MB", "1.2.3", "MB", "1mb", "1e3", "99999999999999TB", "1.5555MB"])
  func noSizes(text: String) {
    #expect(throws: Unreadable.self) { try ByteSizes.bytes(text) }
  }
}
