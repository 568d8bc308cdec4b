import RefreshEngine
import Testing

@testable import RefreshConfig

@Suite("The file of a guard") struct GuardTests {
  static let file = "id = \"a.b\"\nkind = \"guard\"\nunit = \"sync.service\"\n"

  @Test("a guard has its unit, and is refreshed by nothing, whatever [defaults] have")
  func whole() throws {
    let scratch = try Scratch()
    try scratch.write(
      "refreshd.toml",
      "[defaults]\nbackground_interval = \"1h\"\nstale_after = \"3h\"\nnetwork = \"unmetered\"")
    try scratch.write("apps.d/x.toml", Self.file + "guard = \"freeze\"\npower = \"ac\"")
    let policy = try #require(try scratch.load(as: FetchTests.reader).apps.first).policy
    #expect(policy.guarded?.name == "sync.service")
    #expect(policy.guarded?.means == .freeze)
    #expect(policy.backgroundInterval == .never && policy.foregroundInterval == .never)
    #expect(policy.staleAfter == nil && policy.tasks.isEmpty)
    // A guard has the constraints in common with other apps.
    #expect(policy.constraints.network == .unmetered && policy.constraints.power == .ac)
  }

  @Test(
    "a key that has no meaning for a guard is a mistake",
    arguments: [
      "background_interval = \"1h\"", "deadline = \"30s\"", "stale_after = \"2d\"", "pin = { cost = 1.0 }",
      "task = [{ run = [\"true\"] }]", "push_burst = 2",
    ])
  func contradicts(line: String) throws {
    let scratch = try Scratch()
    try scratch.write("apps.d/x.toml", Self.file + line)
    let key = line.prefix { $0 != " " }
    let problem = try #require(scratch.problems(as: FetchTests.reader).first)
    #expect(problem.hasPrefix("apps.d/x.toml:4: \(key): cannot set \(key) for a guard: it refreshes nothing"))
  }

  @Test(
    "only a service can be guarded",
    arguments: [
      ("sync.timer", "cannot guard \"sync.timer\": refreshd stops and starts only services; write a .service"),
      ("sync@.service", "cannot start the template \"sync@.service\" itself; write an instance, such as"),
      ("refreshd.service", "cannot start \"refreshd.service\": it belongs to refreshd; choose another unit"),
    ])
  func units(name: String, problem: String) throws {
    let scratch = try Scratch()
    try scratch.write("apps.d/x.toml", "id = \"a.b\"\nkind = \"guard\"\nunit = \"\(name)\"\n")
    #expect(try #require(scratch.problems(as: FetchTests.reader).first).hasPrefix("apps.d/x.toml:3: unit: \(problem)"))
  }

  @Test("a guard of root in the system's daemon means the machine's unit, any other the owner's own")
  func managers() throws {
    let scratch = try Scratch()
    try scratch.write("apps.d/x.toml", Self.file)
    #expect(try scratch.load(as: FetchTests.reader).apps.first?.policy.guarded?.user == nil)
    let users = Reader(uid: 0, isUserDaemon: true, isProgram: { _ in true }, workers: ["/usr/libexec/refresh-worker"])
    #expect(try scratch.load(as: users).apps.first?.policy.guarded?.user == 0)
    try scratch.write("apps.d/x.toml", Self.file + "owner = \"daemon\"")
    let app = try #require(try scratch.load(as: FetchTests.reader).apps.first)
    #expect(app.policy.guarded?.user == app.owner.uid && app.owner.uid != 0)
  }

  @Test("a guard needs a unit, and a unit at the top of the file needs a guard")
  func needs() throws {
    let scratch = try Scratch()
    try scratch.write("apps.d/x.toml", "id = \"a.b\"\nkind = \"guard\"\n")
    #expect(
      scratch.problems(as: FetchTests.reader) == [
        #"apps.d/x.toml: unit: a guard needs a unit; write for example unit = "syncthing.service""#
      ])
    try scratch.write("apps.d/x.toml", "id = \"a.b\"\nunit = \"sync.service\"\n")
    #expect(
      scratch.problems(as: FetchTests.reader) == [
        #"apps.d/x.toml:2: unit: cannot guard a unit with kind = "refresh"; write kind = "guard", or move it below a [[task]]"#
      ])
  }

  @Test("two guards of one unit are held, and a third of another is not")
  func twice() throws {
    let scratch = try Scratch()
    for id in ["a.b", "a.c"] {
      try scratch.write("apps.d/\(id).toml", "id = \"\(id)\"\nkind = \"guard\"\nunit = \"sync.service\"\n")
    }
    try scratch.write("apps.d/a.d.toml", "id = \"a.d\"\nkind = \"guard\"\nunit = \"other.service\"\n")
    let problem = try #require(scratch.problems(as: FetchTests.reader).first)
    #expect(problem.hasPrefix("apps.d/a.c.toml: unit: cannot guard sync.service twice: "))
    #expect(problem.hasSuffix("apps.d/a.b.toml guards it; put its conditions in one file, and remove the other"))
  }
}
