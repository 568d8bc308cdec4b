import RefreshConfig
import RefreshEngine
import Testing

@Suite("Constraints of an app") struct ConstraintTests {
  /// The policy of an app with these keys, below these defaults.
  static func policy(_ keys: String, defaults: String = "") throws -> Policy {
    let scratch = try Scratch()
    try scratch.write("refreshd.toml", "[defaults]\n\(defaults)")
    try scratch.write("apps.d/a.b.toml", "id = \"a.b\"\n\(keys)\n[[task]]\nrun = [\"true\"]")
    let reader = Reader(
      uid: 0, isProgram: { $0.hasPrefix("/usr/bin/") }, workers: ["/usr/bin/refresh-worker"])
    return try #require(try scratch.load(as: reader).apps.first).policy
  }

  static let all = """
    network = "unmetered"
    ssids = ["Home", "Büro"]
    denied_ssids = ["Hotel"]
    power = "not-low"
    idle = true
    calm = true
    mounted = "/media/backup"
    present = "usb:1D6B:0002"
    reachable = "nas.local:22"
    when = ["true", "two words"]
    quiet = "22:00-06:30"
    max_stale = "3d"
    metered_when_stale = true
    """

  static func isAll(_ policy: Policy) -> Bool {
    var constraints = Constraints()
    constraints.network = .unmetered
    constraints.ssids = ["Home", "Büro"]
    constraints.deniedSSIDs = ["Hotel"]
    constraints.power = .notLow
    constraints.idle = true
    constraints.calm = true
    constraints.mounted = "/media/backup"
    constraints.present = "usb:1d6b:0002"
    constraints.reachable = "nas.local:22"
    constraints.when = "/usr/bin/true 'two words'"
    constraints.whenDigest = policy.constraints.whenDigest
    return policy.constraints == constraints && policy.quiet == QuietHours(from: 22 * 60, to: 6 * 60 + 30)
      && policy.maxStale == .hours(72) && policy.meteredWhenStale
  }

  @Test("are read from its file")
  func whole() throws { #expect(Self.isAll(try Self.policy(Self.all))) }

  @Test("tell a mended command from the one before, also beyond the words that are shown")
  func digests() throws {
    func digest(_ end: String, _ more: String = "") throws -> UInt64 {
      let long = String(repeating: "x", count: 90)
      return try Self.policy("when = [\"/usr/bin/true\", \"\(long)\(end)\"]\n\(more)").constraints.whenDigest
    }
    let digests = [
      try digest("1"), try digest("2"), try digest(#"", "1"#), try digest("1", #"environment = { A = "1" }"#),
      try digest("1", #"environment = { A = "2" }"#), try digest("1", #"directory = "/tmp""#),
    ]
    #expect(Set(digests).count == digests.count)
    #expect(try digest("1") == digests[0])
  }

  @Test("are inherited from [defaults]")
  func defaults() throws { #expect(Self.isAll(try Self.policy("", defaults: Self.all))) }

  @Test("in its file override [defaults]")
  func overridden() throws {
    let keys = """
      network = "none"
      ssids = []
      denied_ssids = []
      power = "any"
      idle = false
      calm = false
      quiet = "never"
      max_stale = "4d"
      metered_when_stale = false
      """
    let policy = try Self.policy(keys, defaults: Self.all)
    var own = Constraints()
    (own.mounted, own.present) = ("/media/backup", "usb:1d6b:0002")
    (own.reachable, own.when) = ("nas.local:22", "/usr/bin/true 'two words'")
    own.whenDigest = policy.constraints.whenDigest
    #expect(policy.constraints == own)
    #expect(policy.quiet == nil)
    #expect(policy.maxStale == .hours(96))
    #expect(!policy.meteredWhenStale)
  }

  @Test("accept every value", arguments: NetworkConstraint.allCases, PowerConstraint.allCases)
  func words(network: NetworkConstraint, power: PowerConstraint) throws {
    let policy = try Self.policy("network = \"\(network.rawValue)\"\npower = \"\(power.rawValue)\"")
    #expect(policy.constraints.network == network)
    #expect(policy.constraints.power == power)
  }

  @Test(
    "quiet hours are read by the minute, on either side of midnight",
    arguments: [("00:00-23:59", 0, 1439), ("23:59-00:00", 1439, 0), ("09:05-17:30", 545, 1050)])
  func quiet(text: String, from: Int, to: Int) throws {
    #expect(try Self.policy("quiet = \"\(text)\"").quiet == QuietHours(from: from, to: to))
  }

  @Test(
    "data may become stale no sooner than it is refreshed",
    arguments: [
      (#"max_stale = "1d""#, ""), ("max_stale = \"1min\"\nbackground_interval = \"never\"", ""),
      ("max_stale = \"15min\"\nbackground_interval = \"auto\"", ""),
      (#"max_stale = "2h""#, #"background_interval = "1h""#), ("", "max_stale = \"2h\"\nbackground_interval = \"1h\""),
    ])
  func stale(keys: String, defaults: String) throws {
    #expect(try Self.policy(keys, defaults: defaults).maxStale != nil)
  }

  @Test("are shared by apps with the same lists")
  func sharing() throws {
    let scratch = try Scratch()
    for number in 0..<3 {
      try scratch.write(
        "apps.d/\(number).toml",
        """
        id = "org.example.app\(number)"
        ssids = ["a rather long name of a Wi-Fi"]
        denied_ssids = ["another rather long name"]
        [[task]]
        run = ["true"]
        """)
    }
    let asked = try scratch.load().apps.map(\.policy.constraints)
    func buffer(_ array: [String]) -> UnsafeRawPointer? { array.withUnsafeBytes { $0.baseAddress } }
    #expect(Set(asked.map { buffer($0.ssids) }).count == 1)
    #expect(Set(asked.map { buffer($0.deniedSSIDs) }).count == 1)
  }
}

@Suite("Limits of the administrator") struct LimitTests {
  static func limits(_ text: String) throws -> Limits {
    let scratch = try Scratch()
    try scratch.write("refreshd.toml", text)
    return try scratch.load().limits
  }

  @Test("are read from refreshd.toml")
  func whole() throws {
    let limits = try Self.limits(
      "max_concurrent = 3\nmax_concurrent_per_user = 2\nunknown_conditions = \"unmet\"\npower_saver = \"stop\"\nsettle = \"0\""
    )
    #expect(limits.maxConcurrent == 3)
    #expect(limits.maxConcurrentPerUser == 2)
    #expect(!limits.unknownIsMet)
    #expect(limits.powerSaver == .stop)
    #expect(limits.settle == .zero)
  }

  @Test("may spell out the defaults")
  func defaults() throws {
    #expect(
      try Self.limits(
        "unknown_conditions = \"met\"\npower_saver = \"dearer\"\nprofile = \"balanced\"\nsettle = \"20s\"") == Limits())
  }
}
