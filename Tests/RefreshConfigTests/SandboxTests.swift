import Glibc
import RefreshConfig
import RefreshEngine
import Testing

@Suite("[sandbox] becomes properties of the units of tasks") struct SandboxTests {
  typealias Value = SandboxProperty.Value
  typealias Range = SandboxProperty.AddressRange

  /// The home of root, whose apps these are.
  static let home = getpwuid(0).map { String(cString: $0.pointee.pw_dir) } ?? ""

  /// A line of the table, and the properties that the service manager gets.
  static let keys: [(line: String, properties: [String: Value])] = [
    (#"ProtectSystem = "strict""#, ["ProtectSystem": .text("strict")]),
    ("ProtectSystem = true", ["ProtectSystem": .text("yes")]),
    (#"ProtectHome = "read-only""#, ["ProtectHome": .text("read-only")]),
    ("ProtectHome = false", ["ProtectHome": .text("no")]),
    (#"ProtectProc = "invisible""#, ["ProtectProc": .text("invisible")]),
    ("PrivateNetwork = true", ["PrivateNetwork": .boolean(true)]),
    ("NoNewPrivileges = false", ["NoNewPrivileges": .boolean(false)]),
    (
      #"ReadWritePaths = ["/srv", "-/var/cache", "~/Mail", "-~/.cache"]"#,
      ["ReadWritePaths": .texts(["/srv", "-/var/cache", "\(home)/Mail", "-\(home)/.cache"])]
    ),
    (#"InaccessiblePaths = "/a path""#, ["InaccessiblePaths": .texts(["/a path"])]),
    (#"UMask = "0077""#, ["UMask": .uint32(0o77)]),
    (
      #"RestrictAddressFamilies = ["AF_UNIX", "AF_INET"]"#,
      ["RestrictAddressFamilies": .filter(isAllowing: true, ["AF_UNIX", "AF_INET"])]
    ),
    (
      #"RestrictAddressFamilies = "~AF_PACKET""#, ["RestrictAddressFamilies": .filter(isAllowing: false, ["AF_PACKET"])]
    ),
    (#"RestrictAddressFamilies = "none""#, ["RestrictAddressFamilies": .filter(isAllowing: true, [])]),
    (
      #"SystemCallFilter = "@system-service mount""#,
      ["SystemCallFilter": .filter(isAllowing: true, ["@system-service", "mount"])]
    ),
    (
      #"SystemCallFilter = ["~@privileged", "~@resources"]"#,
      ["SystemCallFilter": .filter(isAllowing: false, ["@privileged", "@resources"])]
    ),
    (#"SystemCallErrorNumber = "EPERM""#, ["SystemCallErrorNumber": .int32(EPERM)]),
    (#"SystemCallArchitectures = "native""#, ["SystemCallArchitectures": .texts(["native"])]),
    ("RestrictNamespaces = true", ["RestrictNamespaces": .uint64(0)]),
    (#"RestrictNamespaces = ["net", "mnt"]"#, ["RestrictNamespaces": .uint64(0x4002_0000)]),
    (#"RestrictNamespaces = "~user""#, ["RestrictNamespaces": .uint64(0x6E02_0000)]),
    ("CapabilityBoundingSet = []", ["CapabilityBoundingSet": .uint64(0)]),
    (#"CapabilityBoundingSet = "CAP_CHOWN CAP_KILL""#, ["CapabilityBoundingSet": .uint64(0b100001)]),
    (#"CapabilityBoundingSet = ["~CAP_SYS_ADMIN"]"#, ["CapabilityBoundingSet": .uint64(0x1FF_FFDF_FFFF)]),
    (#"MemoryMax = "512M""#, ["MemoryMax": .uint64(512 << 20)]),
    ("MemoryHigh = 65536", ["MemoryHigh": .uint64(65536)]),
    (#"MemoryMax = "infinity""#, ["MemoryMax": .uint64(.max)]),
    (#"MemoryMax = "50%""#, ["MemoryMaxScale": .uint32(0x8000_0000)]),
    ("TasksMax = 64", ["TasksMax": .uint64(64)]),
    (#"TasksMax = "100%""#, ["TasksMaxScale": .uint32(.max)]),
    ("CPUWeight = 20", ["CPUWeight": .uint64(20)]),
    (#"CPUQuota = "12.5%""#, ["CPUQuotaPerSecUSec": .uint64(125_000)]),
    (#"CPUQuota = "200%""#, ["CPUQuotaPerSecUSec": .uint64(2_000_000)]),
    ("IOWeight = 10000", ["IOWeight": .uint64(10_000)]),
    ("Nice = 19", ["Nice": .int32(19)]),
    (#"IOSchedulingClass = "idle""#, ["IOSchedulingClass": .int32(3)]),
    (#"CPUSchedulingPolicy = "batch""#, ["CPUSchedulingPolicy": .int32(3)]),
    ("LimitNOFILE = 256", ["LimitNOFILE": .uint64(256), "LimitNOFILESoft": .uint64(256)]),
    (
      #"IPAddressDeny = "any""#,
      [
        "IPAddressDeny": .addresses([
          Range(family: AF_INET, address: [0, 0, 0, 0], prefixLength: 0),
          Range(family: AF_INET6, address: .init(repeating: 0, count: 16), prefixLength: 0),
        ])
      ]
    ),
    (
      #"IPAddressAllow = ["192.0.2.0/24", "::1"]"#,
      [
        "IPAddressAllow": .addresses([
          Range(family: AF_INET, address: [192, 0, 2, 0], prefixLength: 24),
          Range(family: AF_INET6, address: .init(repeating: 0, count: 15) + [1], prefixLength: 128),
        ])
      ]
    ),
  ]

  static func properties(_ app: String, main: String = "") throws -> [String: Value] {
    let scratch = try Scratch()
    try scratch.write("refreshd.toml", main)
    try scratch.write("apps.d/x.toml", "id = \"a.b\"\n[[task]]\nrun = [\"true\"]\n\(app)\n")
    let sandbox = try #require(try scratch.load().apps.first).sandbox
    return Dictionary(sandbox.map { ($0.name, $0.value) }) { first, _ in first }
  }

  @Test("key by key", arguments: keys)
  func key(line: String, properties: [String: Value]) throws {
    #expect(try Self.properties("[sandbox]\n\(line)") == properties)
  }

  @Test("a missing table gives no properties")
  func none() throws {
    #expect(try Self.properties("").isEmpty)
    #expect(try Self.properties("[sandbox]").isEmpty)
  }

  @Test("[defaults] apply unless the app's file has the same key; ~/ is each owner's home")
  func defaults() throws {
    let properties = try Self.properties(
      "[sandbox]\nCPUWeight = 50",
      main: "[defaults.sandbox]\nCPUWeight = 20\nPrivateTmp = true\nReadOnlyPaths = \"~/src\"")
    #expect(
      properties == [
        "CPUWeight": .uint64(50), "PrivateTmp": .boolean(true), "ReadOnlyPaths": .texts(["\(Self.home)/src"]),
      ])
  }

  @Test(
    "a user's daemon adds a user namespace for keys that need it",
    arguments: [
      ("PrivateTmp = true", true), (#"ReadOnlyPaths = "/srv""#, true), ("ProtectHome = false", false),
      ("Nice = 5", false),
    ])
  func users(line: String, hasNamespace: Bool) throws {
    let scratch = try Scratch()
    try scratch.write("apps.d/x.toml", "id = \"a.b\"\n[sandbox]\n\(line)\n")
    let sandbox = try #require(try scratch.load(as: SandboxProblemTests.user).apps.first).sandbox
    #expect(sandbox.contains { $0.name == "PrivateUsers" && $0.value == .boolean(true) } == hasNamespace)
  }

  @Test("apps with equal properties share them")
  func sharing() throws {
    let scratch = try Scratch()
    for id in ["a.b", "a.c"] {
      try scratch.write("apps.d/\(id).toml", "id = \"\(id)\"\n[sandbox]\nReadOnlyPaths = \"/srv/a/rather/long/path\"")
    }
    let sandboxes = try scratch.load().apps.map(\.sandbox)
    #expect(Set(sandboxes.map { $0.withUnsafeBytes { $0.baseAddress } }).count == 1)
  }
}

@Suite("A mistake in [sandbox] is reported with its line") struct SandboxProblemTests {
  static let size = #"write for example "512M" (B, K, M, G, T), "20%" where systemd has it, or "infinity""#
  static let number = #"write a number above zero, "20%" where systemd has it, or "infinity""#
  static let address =
    #"write for example "192.0.2.0/24", "2001:db8::/32", or "any", "localhost", "link-local", "multicast""#

  static let lines: [(line: String, problem: String)] = [
    (
      #"ProtectSystem = "strickt""#,
      #"ProtectSystem: cannot take "strickt"; write true, false, "full" or "strict""#
    ),
    (
      "ProtectSystem = 1",
      #"ProtectSystem: cannot take an integer for this key; write for example ProtectSystem = "strict""#
    ),
    (
      #"PrivateTmp = "yes""#,
      "PrivateTmp: cannot take a string for this key; write for example PrivateTmp = true"
    ),
    (
      #"ReadOnlyPaths = ["srv"]"#,
      #"ReadOnlyPaths: cannot use "srv" as a path: it is not a whole one; "#
        + "begin with a slash, or with ~/ for the owner's home; a - before it passes over what is not there"
    ),
    (#"MemoryMax = "lots""#, #"MemoryMax: cannot take "lots" as a size; \#(size)"#),
    (#"MemoryMax = "0M""#, #"MemoryMax: cannot take "0M" as a size; \#(size)"#),
    (#"MemoryMax = "99999999999E""#, #"MemoryMax: cannot take "99999999999E" as a size; \#(size)"#),
    (#"MemoryMax = "101%""#, #"MemoryMax: cannot take "101%" as a size; \#(size)"#),
    ("MemoryMax = -1", #"MemoryMax: cannot take "-1" as a size; \#(size)"#),
    (#"TasksMax = "1K""#, #"TasksMax: cannot take "1K" as a number; \#(number)"#),
    ("CPUWeight = 0", "CPUWeight: cannot take 0: it is out of bounds; write 1 to 10000"),
    ("Nice = -5", "Nice: cannot take -5: it is out of bounds; write 0 to 19"),
    (
      #"CPUQuota = "half""#,
      #"CPUQuota: cannot take "half" as a share; write for example "50%" for half of one processor, "200%" for two"#
    ),
    (#"UMask = "0o77""#, #"UMask: cannot take "0o77" as permissions; write octal digits, as in "0077""#),
    (#"IOSchedulingClass = "realtime""#, #"IOSchedulingClass: cannot take "realtime"; write "best-effort" or "idle""#),
    (
      #"IPAddressDeny = "example.org""#,
      #"IPAddressDeny: cannot take "example.org" as an internet address; \#(address)"#
    ),
    (
      #"IPAddressDeny = "192.0.2.0/33""#,
      #"IPAddressDeny: cannot take "192.0.2.0/33" as an internet address; \#(address)"#
    ),
    (
      #"SystemCallFilter = ["@sytem-service"]"#,
      #"SystemCallFilter: cannot take "@sytem-service" as a system call; "#
        + #"write names of syscalls(2), or groups of systemd.exec(5), such as "@system-service""#
    ),
    (
      #"SystemCallFilter = ["@system-service", "~mount"]"#,
      "SystemCallFilter: cannot both allow and deny in one list; write ~ before the first name, or before none"
    ),
    (
      "RestrictAddressFamilies = []",
      "RestrictAddressFamilies: cannot take an empty list; "
        + #"write names of socket(2), such as "AF_INET", or "none""#
    ),
    (
      #"CapabilityBoundingSet = ["CAP_EVERYTHING"]"#,
      #"CapabilityBoundingSet: cannot take "CAP_EVERYTHING" as a capability; "#
        + #"write names such as "CAP_AUDIT_CONTROL", "CAP_AUDIT_READ""#
    ),
    ("MemoriMax = 1", "MemoriMax: cannot use a key that is not known here; did you mean sandbox.MemoryMax?"),
    (
      #"User = "root""#,
      "User: cannot set User: it can give tasks more rights than the app's owner has; "
        + "write owner, above the first line that begins with ["
    ),
    (
      #"AmbientCapabilities = "CAP_SYS_ADMIN""#,
      "AmbientCapabilities: cannot set AmbientCapabilities: it can give tasks more rights than the app's owner has; "
        + "remove the key"
    ),
    (
      "RuntimeMaxSec = 5",
      "RuntimeMaxSec: cannot set RuntimeMaxSec: refreshd sets it itself; write deadline, outside of this table"
    ),
    ("MemoryLimit = 5", "MemoryLimit: cannot set MemoryLimit: systemd has given it up; write MemoryMax"),
  ]

  func problems(_ text: String, main: String = "", as reader: Reader = .anybody) throws -> [String] {
    let scratch = try Scratch()
    try scratch.write("refreshd.toml", main)
    try scratch.write("apps.d/x.toml", "id = \"a.b\"\n[[task]]\nrun = [\"true\"]\n\(text)\n")
    return scratch.problems(as: reader)
  }

  @Test("and its remedy", arguments: lines)
  func line(line: String, problem: String) throws {
    #expect(try problems("[sandbox]\n\(line)") == ["apps.d/x.toml:5: sandbox.\(problem)"])
  }

  @Test("an unknown key without a similar one lists all keys")
  func unknown() throws {
    let answer = try #require(try problems("[sandbox]\nquite_something_else = 1").first)
    #expect(answer.contains("the keys here are CPUQuota, CPUSchedulingPolicy, CPUWeight, CapabilityBoundingSet, "))
  }

  @Test("the table is refused for spawned tasks, because they have no unit")
  func spawned() throws {
    let mistake =
      #"sandbox: cannot put tasks into a sandbox with launcher = "spawn" in refreshd.toml: they have no unit; "#
      + #"remove the table, or write launcher = "auto""#
    #expect(
      try problems("[sandbox]\nNice = 5", main: #"launcher = "spawn""#) == ["apps.d/x.toml:4: \(mistake)"])
    #expect(
      try problems("", main: "launcher = \"spawn\"\n[defaults.sandbox]\nNice = 5")
        == ["refreshd.toml:2: defaults.\(mistake)"])
    #expect(try problems("[sandbox]\nNice = 5", main: #"launcher = "systemd""#) == [])
  }

  static let user = Reader(uid: 0, isUserDaemon: true, isProgram: { _ in true })

  @Test("a user's daemon refuses keys that its service manager would ignore")
  func users() throws {
    #expect(
      try problems("[sandbox]\nIPAddressDeny = \"any\"\nPrivateNetwork = true", as: Self.user) == [
        "apps.d/x.toml:5: sandbox.IPAddressDeny: cannot take IPAddressDeny in a user's daemon: only the machine's "
          + "service manager can do it; remove the key, or install the app for the system's daemon"
      ])
    #expect(
      try problems("[sandbox]\nPrivateUsers = false\nProtectSystem = true", as: Self.user) == [
        "apps.d/x.toml:5: sandbox.PrivateUsers: cannot do ProtectSystem in a user's daemon without PrivateUsers; "
          + "remove the key, which is true then, or ProtectSystem"
      ])
    #expect(try problems("[sandbox]\nPrivateUsers = false\nProtectSystem = false\nNice = 5", as: Self.user) == [])
  }
}
