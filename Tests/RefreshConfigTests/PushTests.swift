import RefreshConfig
import RefreshEngine
import Testing

/// The sources of pushes in `push.toml`.
@Suite("push.toml") struct PushTests {
  static let ntfy = "[[ntfy]]\nname = \"home\"\nurl = \"https://ntfy.example.org\"\n"
  static let topics = "topics = { \"org.example.mail\" = \"upSecret01\" }\n"

  private func sources(_ text: String) throws -> [PushSource] {
    let scratch = try Scratch()
    try scratch.writePush(text)
    return try scratch.sources()
  }

  private func problems(_ text: String, mode: Int = 0o600) throws -> [String] {
    let scratch = try Scratch()
    try scratch.writePush(text, mode: mode)
    return scratch.pushProblems()
  }

  @Test("that is missing, empty or only has comments has no source", arguments: [nil, "", "# nothing\n"])
  func none(text: String?) throws {
    let scratch = try Scratch()
    if let text { try scratch.writePush(text) }
    #expect(try scratch.sources() == [])
  }

  @Test("may have several sources of each kind, in any order")
  func order() throws {
    let sources = try sources(
      """
      [[sse]]
      name = "news"
      url = "https://example.org/events?topic=1"
      app = "org.example.feed"
      [[ntfy]]
      name = "home"
      url = "https://ntfy.example.org"
      topics = { "org.example.mail" = "upMail", "org.example.todo" = "upTodo" }
      [[sse]]
      name = "more"
      url = "http://localhost/"
      app = "org.example.feed"
      silence = "5min"
      event = "update"
      headers_file = "~/more.headers"
      [[mqtt]]
      name = "broker"
      host = "broker.example.org"
      """)
    #expect(sources.map(\.name) == ["news", "home", "more", "broker"])
    guard case .ntfy(let ntfy) = sources[1], case .sse(let more) = sources[2], case .mqtt(let broker) = sources[3]
    else {
      Issue.record("\(sources) are of other kinds")
      return
    }
    #expect(ntfy.topics == ["upMail": "org.example.mail", "upTodo": "org.example.todo"])
    #expect((ntfy.silence, ntfy.credentialFile, ntfy.caFile) == (.seconds(100), nil, nil))
    #expect((more.silence, more.event, more.headersFile) == (.minutes(5), "update", "/home/ann/more.headers"))
    #expect((broker.port, broker.usesTLS, broker.topic) == (8883, true, "refreshd/{machine}/{app}"))
    #expect((broker.sessionExpiry, broker.keepAlive, broker.maxPacket) == (.hours(168), .seconds(60), 8192))
    #expect((broker.version, broker.topics) == (nil, [:]))
  }

  @Test("may have a table of topics for a broker, instead of the pattern or beside it")
  func brokerTopics() throws {
    let table = "topics = { \"org.example.mail\" = \"home.one/{machine}/mail\" }\n"
    for (pattern, topic) in [("", nil), ("topic = \"t/{app}\"\n", "t/{app}")] {
      guard case .mqtt(let broker) = try sources(Self.broker + pattern + table)[0] else { return }
      #expect(broker.topics == ["home.one/{machine}/mail": "org.example.mail"])
      #expect(broker.topic == topic)
    }
  }

  @Test("has files as absolute paths or with ~/, and credentials by name")
  func files() throws {
    let written = ["/etc/x", "~/x", "ntfy.token"]
    let read = try written.map { file in
      guard case .ntfy(let ntfy) = try sources(Self.ntfy + Self.topics + "credential_file = \"\(file)\"\n")[0] else {
        return ""
      }
      return ntfy.credentialFile ?? ""
    }
    #expect(read == ["/etc/x", "/home/ann/x", "ntfy.token"])
    #expect(
      try problems(Self.ntfy + Self.topics + "ca_file = \"ca.pem\"\n")
        == [
          "push.toml:5: ntfy.ca_file: cannot use \"ca.pem\" as a file: the path is not absolute; "
            + "begin with a slash"
        ])
  }

  @Test("with topics or a password must not be readable by others", arguments: [0o604, 0o644, 0o666])
  func mode(mode: Int) throws {
    let secret = try problems(Self.ntfy + Self.topics, mode: mode)
    #expect(secret.count == 1)
    let warning = "ntfy: cannot keep topics, which are secrets, in a file that everyone can read"
    #expect(secret.first?.contains(warning) == true)
    let events = "[[sse]]\nname = \"a\"\napp = \"a.b\"\nurl = \"https://"
    #expect(try problems(events + "ann:secret@h/\"\n", mode: mode).count == 1)
    #expect(try problems(events + "h/a@b\"\n", mode: mode) == [])
    #expect(try problems(Self.ntfy + Self.topics, mode: 0o640) == [])
  }

  @Test("has problems that do not contain a topic", arguments: ["up Secret01", "up/Secret01", "Secret01+"])
  func topicsAreSecrets(topic: String) throws {
    let problems = try problems(Self.ntfy + "topics = { \"org.example.mail\" = \"\(topic)\" }\n")
    #expect(
      problems == [
        "push.toml:4: ntfy.topics.org.example.mail: cannot use this as an ntfy topic; "
          + "write 1 to 64 letters, digits, _ and -"
      ])
  }

  @Test("cannot have two sources with one name, or two apps with a topic")
  func twice() throws {
    #expect(
      try problems(Self.ntfy + Self.topics + "[[mqtt]]\nname = \"home\"\nhost = \"b\"\n")
        == ["push.toml:6: mqtt.name: cannot name two sources \"home\"; give each source its own name"])
    #expect(
      try problems(Self.ntfy + "topics = { \"a.b\" = \"up\", \"a.c\" = \"up\" }\n")
        == ["push.toml:4: ntfy.topics.a.c: cannot give two apps the same topic; give each app its own topic"])
  }

  static let broker = "[[mqtt]]\nname = \"a\"\nhost = \"h\"\n"

  static let mistakes: [(text: String, problem: String)] = [
    ("[[ntfy]]\nurl = \"https://h\"\n\(topics)", "1: ntfy.name: the source has no name"),
    ("[[ntfy]]\nname = \"Home\"\nurl = \"https://h\"\n\(topics)", "2: ntfy.name: cannot name a source \"Home\""),
    ("[[ntfy]]\nname = \"a\"\n\(topics)", "1: ntfy.url: the source has no url"),
    (
      "[[ntfy]]\nname = \"a\"\nurl = \"https://ann:pw@h\"\n\(topics)",
      "3: ntfy.url: cannot use a query, a fragment or a user in the URL of a server"
    ),
    (ntfy, "1: ntfy.topics: the source has no topics"),
    ("\(ntfy)topics = {}\n", "4: ntfy.topics: cannot listen to 0 topics"),
    ("\(ntfy)topics = { \"mail\" = \"up\" }\n", "4: ntfy.topics.mail: cannot use \"mail\" as an app id"),
    ("\(ntfy)\(topics)silence = \"never\"\n", "5: ntfy.silence: cannot read \"never\" as a duration"),
    ("\(ntfy)\(topics)topic = \"up\"\n", "5: ntfy.topic: unknown key"),
    ("[[sse]]\nname = \"a\"\nurl = \"https://h\"\n", "1: sse.app: the source has no app"),
    ("[[mqtt]]\nname = \"a\"\n", "1: mqtt.host: the source has no host"),
    ("[[mqtt]]\nname = \"a\"\nhost = \"mqtt://h\"\n", "3: mqtt.host: cannot use \"mqtt://h\" as a host"),
    ("[[mqtt]]\nname = \"a\"\nhost = \"h:1883\"\n", "3: mqtt.host: cannot use \"h:1883\" as a host"),
    ("\(broker)topic = \"$share/home/{app}\"\n", "4: mqtt.topic: cannot listen to this topic: a shared"),
    ("\(broker)topic = \"a/#\"\n", "4: mqtt.topic: cannot find the app of a message in this topic"),
    ("\(broker)topic = \"a/x{app}\"\n", "4: mqtt.topic: cannot find the app of a message in this topic"),
    ("\(broker)topic = \"{app}/{app}\"\n", "4: mqtt.topic: cannot find the app of a message in this topic"),
    ("\(broker)topic = \"{app}/#\"\n", "4: mqtt.topic: cannot listen to this topic"),
    ("\(broker)topic = \"{host}/{app}\"\n", "4: mqtt.topic: unknown word in braces in this topic"),
    ("\(broker)topics = { \"a.b\" = \"t/{app}\" }\n", "4: mqtt.topics.a.b: cannot listen to this topic"),
    ("\(broker)topics = { \"a.b\" = \"t/+\" }\n", "4: mqtt.topics.a.b: cannot listen to this topic"),
    ("\(broker)topics = {}\n", "4: mqtt.topics: cannot listen to 0 topics"),
    (
      "\(broker)topics = { \"a.b\" = \"t/x\" }\ntopic = \"t/{app}\"\n",
      "4: mqtt.topics: cannot listen to a topic twice: topic already covers a.b"
    ),
    ("\(broker)tls = false\nca_file = \"/c\"\n", "5: mqtt.ca_file: cannot use certificates without TLS"),
    ("\(broker)key_file = \"/c\"\n", "4: mqtt.key_file: cannot use key_file without certificate_file"),
    ("\(broker)version = \"3.1\"\n", "4: mqtt.version: cannot use MQTT version \"3.1\"; write \"5\" or \"3.1.1\""),
    ("\(broker)port = 0\n", "4: mqtt.port: cannot use 0: it is out of range"),
    ("\(broker)max_packet = \"65K\"\n", "4: mqtt.max_packet: cannot use 65K: it is out of range"),
    ("[ntfy]\nname = \"a\"\n", "1: ntfy: cannot use a table here"),
    ("[[gotify]]\nname = \"a\"\n", "1: gotify: unknown key"),
  ]

  @Test("reports each mistake with its line", arguments: mistakes)
  func isRefused(text: String, problem: String) throws {
    let problems = try problems(text)
    #expect(problems.count == 1, "\(problems)")
    #expect(problems.first?.hasPrefix("push.toml:\(problem)") == true, "\(problems)")
  }

  @Test("is checked together with the other files")
  func checked() throws {
    let scratch = try Scratch()
    try scratch.write("refreshd.toml", "colour = 1\n")
    try scratch.writePush("colour = 1\n")
    let files = Configuration.problems(in: .directory(scratch.path), as: .anybody).map(\.file)
    #expect(files == ["\(scratch.path)/refreshd.toml", "\(scratch.path)/push.toml"])
    // A mistake in push.toml stops the bridge, not the daemon.
    try scratch.write("refreshd.toml", "")
    #expect(scratch.problems() == [])
  }

  @Test("as shipped has no source, and shows every key")
  func shipped() throws {
    #expect(try sources(try ShippedFilesTests.text("push.toml")) == [])
    let sources = try sources(try ShippedFilesTests.uncommented("push.toml"))
    #expect(sources.map(\.name) == ["home", "news", "broker"])
    for (kind, source) in zip(["ntfy", "sse", "mqtt"], ["home", "news", "broker"]) {
      let problem = try #require(problems("[[\(kind)]]\nname = \"\(source)\"\nno_key_is_like_this_one = 1").last)
      let keys = problem.split(separator: "the keys here are ").last?.split(separator: ", ") ?? []
      #expect(keys.count >= 6)
      let shown = try ShippedFilesTests.uncommented("push.toml").split(separator: "[[\(kind)]]\n").last ?? ""
      let table = shown.prefix { $0 != "[" }
      for key in keys { #expect("\n\(table)".contains("\n\(key) = "), "\(kind).\(key)") }
    }
    guard case .ntfy(let ntfy) = sources[0], case .sse(let stream) = sources[1], case .mqtt(let broker) = sources[2]
    else { return }
    // The documented defaults equal those of the code.
    #expect((ntfy.silence, stream.silence, stream.event) == (.seconds(100), nil, "message"))
    #expect((broker.sessionExpiry, broker.keepAlive, broker.maxPacket) == (.hours(168), .seconds(60), 8192))
  }
}

/// The limit of pushes per app, and the network of the bridge.
@Suite("Bounds of pushes") struct PushSettingsTests {
  @Test("are the app's own, else those of [defaults], else 5 in a burst and 3 an hour")
  func limits() throws {
    let scratch = try Scratch()
    try scratch.write("refreshd.toml", "[push]\nnetwork = \"wifi\"\n[defaults]\npush_burst = 100")
    try scratch.write("apps.d/a.own.toml", "id = \"a.own\"\npush_per_hour = 3600\npush_burst = 1")
    try scratch.write("apps.d/a.some.toml", "id = \"a.some\"\npush_per_hour = 1")
    try scratch.write("apps.d/a.none.toml", "id = \"a.none\"")
    let configuration = try scratch.load()
    #expect(
      configuration.apps.map(\.policy.pushLimit) == [
        PushLimit(perHour: 3, burst: 100), PushLimit(perHour: 3600, burst: 1), PushLimit(perHour: 1, burst: 100),
      ])
    #expect(configuration.limits.pushNetwork == .wifi)
    try scratch.write("refreshd.toml", "")
    #expect(try scratch.load().apps[0].policy.pushLimit == PushLimit(perHour: 3, burst: 5))
    #expect(try scratch.load().limits.pushNetwork == .any)
  }

  @Test("out of bounds are refused with their lines")
  func mistakes() throws {
    let scratch = try Scratch()
    try scratch.write("refreshd.toml", "[push]\nnetwork = \"lan\"\nlimit = 1")
    try scratch.write("apps.d/a.b.toml", "id = \"a.b\"\npush_per_hour = 0\npush_burst = 101")
    #expect(
      scratch.problems() == [
        "apps.d/a.b.toml:2: push_per_hour: cannot use 0: it is out of range; write 1 to 3600",
        "apps.d/a.b.toml:3: push_burst: cannot use 101: it is out of range; write 1 to 100",
        "refreshd.toml:2: push.network: cannot use \"lan\" here; write \"none\", \"any\", \"unmetered\" or \"wifi\"",
        "refreshd.toml:3: push.limit: unknown key; the keys here are network",
      ])
  }
}
