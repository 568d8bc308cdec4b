import Glibc
import RefreshConfig
import Testing

@Suite("The sandbox of an app's commands") struct SandboxTests {
  /// The home of root, whose apps these are.
  static let home = getpwuid(0).map { String(cString: $0.pointee.pw_dir) } ?? ""

  static func scratch(_ app: String, main: String = "") throws -> Scratch {
    let scratch = try Scratch()
    try scratch.write("refreshd.toml", main)
    try scratch.write("apps.d/x.toml", "id = \"a.b\"\n\(app)\n[[task]]\nrun = [\"true\"]\n")
    return scratch
  }

  static func sandbox(_ app: String, main: String = "") throws -> AppSandbox {
    try #require(try scratch(app, main: main).load().apps.first).sandbox
  }

  static let strict = "sandbox = \"strict\"\n"

  @Test func itIsAsTheFileSays() throws {
    #expect(try Self.sandbox("") == AppSandbox())
    var sandbox = AppSandbox()
    sandbox.memoryMax = 512 << 20
    #expect(try Self.sandbox("memory_max = \"512M\"") == sandbox)
    sandbox.level = .strict
    sandbox.isOffline = true
    sandbox.writable = ["/srv/a", "\(Self.home)/Mail"]
    let keys = "offline = true\nmemory_max = \"512M\"\nwritable = [\"/srv/a\", \"~/Mail\"]\n"
    #expect(try Self.sandbox(Self.strict + keys) == sandbox)
  }

  @Test("[defaults] apply unless the app's file has the key, and without a sandbox most have no effect")
  func defaults() throws {
    let main = "[defaults]\nsandbox = \"strict\"\noffline = true\nwritable = [\"~/a\"]\nmemory_max = \"1G\"\n"
    var sandbox = try Self.sandbox("writable = []\nmemory_max = \"none\"", main: main)
    #expect((sandbox.level, sandbox.isOffline) == (.strict, true))
    #expect(sandbox.writable == [] && sandbox.memoryMax == nil)
    sandbox = AppSandbox()
    sandbox.memoryMax = 1 << 30
    #expect(try Self.sandbox("sandbox = \"none\"", main: main) == sandbox)
  }

  static let path =
    #"it is not the absolute path of a folder; begin with a slash, or with ~/ for the owner's home, "#
    + #"without "..", "." or a final slash"#
  static let table =
    #"sandbox: cannot use a table of systemd's settings; write sandbox = "strict" above the first line that begins with [, "#
    + #"or put the settings in a unit file and start it by a task with unit = "NAME.service""#
  static let alone = #"without a sandbox; add sandbox = "strict", or remove the key"#

  @Test(
    "a mistake is reported with its remedy",
    arguments: [
      (#"sandbox = "strickt""#, #"2: sandbox: cannot use "strickt" here; write "none" or "strict""#),
      ("sandbox = true", #"2: sandbox: cannot use a boolean here; write for example sandbox = "strict""#),
      ("[sandbox]\nMemoryMax = \"1G\"", "2: \(table)"),
      ("offline = true", "2: offline: cannot set offline \(alone)"),
      (#"writable = ["~/Mail"]"#, "2: writable: cannot set writable \(alone)"),
      ("\(strict)writable = [\"Mail\"]", #"3: writable: cannot write to "Mail": \#(path)"#),
      ("\(strict)writable = [\"~\"]", #"3: writable: cannot write to "~": \#(path)"#),
      (
        "\(strict)writable = [\"/tmp/a\"]",
        #"3: writable: cannot write to "/tmp/a": each command has its own /tmp in the sandbox; "#
          + "choose a folder elsewhere"
      ),
      (
        #"memory_max = "lots""#,
        #"2: memory_max: cannot read "lots" as an amount of data; write for example "100MB" or "1GiB""#
      ),
    ])
  func mistakes(lines: String, problem: String) throws {
    #expect(try Self.scratch(lines).problems() == ["apps.d/x.toml:\(problem)"])
  }

  @Test func theTableOfDefaultsIsAMistakeToo() throws {
    let problems = try Self.scratch("", main: "[defaults.sandbox]\nCPUWeight = 20").problems()
    #expect(problems == ["refreshd.toml:1: defaults.\(Self.table)"])
  }

  @Test("spawned tasks have no unit, so that they cannot be confined", arguments: [strict, "memory_max = \"1G\"\n"])
  func spawned(line: String) throws {
    let key = line.prefix { $0 != " " }
    let mistake =
      #"\#(key): cannot sandbox tasks with launcher = "spawn" in refreshd.toml: they run without a unit; "#
      + #"remove the key, or write launcher = "auto""#
    #expect(try Self.scratch(line, main: #"launcher = "spawn""#).problems() == ["apps.d/x.toml:2: \(mistake)"])
    #expect(
      try Self.scratch("", main: "launcher = \"spawn\"\n[defaults]\n\(line)").problems()
        == ["refreshd.toml:3: defaults.\(mistake)"])
    #expect(try Self.scratch("\(key) = \"none\"", main: #"launcher = "spawn""#).problems() == [])
  }

  @Test func aFileOutsideOfTheWritableFoldersIsAMistake() throws {
    func problems(_ target: String, _ keys: String) throws -> [String] {
      let scratch = try Scratch()
      try scratch.write(
        "apps.d/x.toml", "id = \"a.b\"\n\(keys)[[task]]\nhttp = { url = \"https://example.org/a\", to = \"\(target)\" }"
      )
      return scratch.problems(as: FetchTests.reader)
    }
    let writable = Self.strict + "writable = [\"~/feeds\"]\n"
    #expect(try problems("~/feedser/a", "") == [])
    #expect(try problems("\(Self.home)/feeds/b/a", writable) == [])
    #expect(
      try problems("~/feedser/a", writable) == [
        #"apps.d/x.toml:5: task.http: cannot write to "~/feedser/a" from the sandbox; add its folder to writable"#
      ])
  }

  @Test func theConditionOfAGuardIsAskedInItsSandbox() throws {
    let scratch = try Scratch()
    try scratch.write("refreshd.toml", "[defaults]\nsandbox = \"strict\"")
    try scratch.write("apps.d/x.toml", "\(GuardTests.file)offline = true")
    let sandbox = try #require(try scratch.load(as: FetchTests.reader).apps.first).sandbox
    #expect(sandbox.level == .strict && sandbox.isOffline)
  }
}
