import Glibc
import RefreshConfig
import RefreshEngine
import Testing

@Suite("The directories of a configuration") struct SourcesTests {
  static func app(_ id: String, name: String) -> String {
    "id = \"\(id)\"\nname = \"\(name)\"\n[[task]]\nrun = [\"true\"]"
  }

  /// The sources of a user's daemon, all below the scratch directory: data, runtime, then config.
  static func sources(in scratch: Scratch) -> ConfigurationSources {
    .user(home: scratch.path) { name in
      [
        "XDG_DATA_DIRS": "\(scratch.path)/data", "XDG_RUNTIME_DIR": "\(scratch.path)/run",
        "XDG_CONFIG_HOME": "\(scratch.path)/config",
      ][name]
    }
  }

  static func names(in scratch: Scratch) throws -> [String] {
    try Configuration.load(from: sources(in: scratch), as: .anybody).apps.map { "\($0.id) \($0.name)" }
  }

  @Test("the system's daemon reads the vendor's, the boot's and the administrator's directory")
  func system() {
    #expect(ConfigurationSources.system.directories == ["/usr/lib/refreshd", "/run/refreshd", "/etc/refreshd"])
  }

  @Test(
    "a user's daemon reads the XDG directories, with their defaults and without relative ones",
    arguments: [
      ([:], ["/usr/share/refreshd", "/usr/local/share/refreshd", "/home/anna/.config/refreshd"]),
      (
        ["XDG_DATA_DIRS": "/a:b:/c", "XDG_RUNTIME_DIR": "/run/user/1", "XDG_CONFIG_HOME": "/x"],
        ["/c/refreshd", "/a/refreshd", "/run/user/1/refreshd", "/x/refreshd"]
      ),
      (
        ["XDG_DATA_DIRS": "", "XDG_CONFIG_HOME": "", "XDG_RUNTIME_DIR": ""],
        ["/usr/share/refreshd", "/usr/local/share/refreshd", "/home/anna/.config/refreshd"]
      ),
    ] as [([String: String], [String])]
  )
  func user(environment: [String: String], directories: [String]) {
    #expect(ConfigurationSources.user(home: "/home/anna") { environment[$0] }.directories == directories)
  }

  @Test("a later directory masks a file of the same name, and adds others")
  func masking() throws {
    let scratch = try Scratch()
    try scratch.write("data/refreshd/apps.d/a.toml", Self.app("a.a", name: "data"))
    try scratch.write("data/refreshd/apps.d/b.toml", Self.app("b.b", name: "data"))
    try scratch.write("run/refreshd/apps.d/b.toml", Self.app("b.b", name: "run"))
    try scratch.write("run/refreshd/apps.d/c.toml", Self.app("c.c", name: "run"))
    try scratch.write("config/refreshd/apps.d/c.toml", Self.app("c.c", name: "config"))
    #expect(try Self.names(in: scratch) == ["a.a data", "b.b run", "c.c config"])
  }

  @Test("a masked file is not even read")
  func maskedMistake() throws {
    let scratch = try Scratch()
    try scratch.write("data/refreshd/apps.d/a.toml", "nonsense")
    try scratch.write("run/refreshd/apps.d/a.toml", Self.app("a.a", name: "run"))
    #expect(try Self.names(in: scratch) == ["a.a run"])
  }

  @Test("a file that goes away while the others are read is no mistake")
  func goesAway() throws {
    let scratch = try Scratch()
    try scratch.write("apps.d/a.toml", #"id = "a.a"\n[[task]]\nrun = ["/bin/true"]"#.replacing("\\n", with: "\n"))
    try scratch.write("apps.d/b.toml", Self.app("b.b", name: "b"))
    let path = "\(scratch.path)/apps.d/b.toml"
    // The program of the first app is looked at before the second file is read.
    let reader = Reader(isProgram: { _ in
      unlink(path)
      return true
    })
    #expect(try scratch.load(as: reader).apps.map { "\($0.id)" } == ["a.a"])
  }

  @Test("an empty file and a link to /dev/null mask a file without replacing it")
  func emptyMask() throws {
    let scratch = try Scratch()
    for name in ["a", "b", "c"] {
      try scratch.write("data/refreshd/apps.d/\(name).toml", Self.app("\(name).x", name: "data"))
    }
    try scratch.write("run/refreshd/apps.d/a.toml", "")
    try scratch.link("run/refreshd/apps.d/b.toml", to: "/dev/null")
    #expect(try Self.names(in: scratch) == ["c.x data"])
  }

  @Test("refreshd.toml is replaced or masked as a whole")
  func mainMasking() throws {
    let scratch = try Scratch()
    try scratch.write("data/refreshd/refreshd.toml", "foreground_floor = \"1min\"\nbackground_floor = \"1h\"")
    #expect(try Configuration.load(from: Self.sources(in: scratch), as: .anybody).limits.backgroundFloor == .hours(1))
    try scratch.write("run/refreshd/refreshd.toml", "foreground_floor = \"2min\"")
    #expect(
      try Configuration.load(from: Self.sources(in: scratch), as: .anybody).limits
        == Limits(foregroundFloor: .minutes(2)))
    try scratch.write("config/refreshd/refreshd.toml", "")
    #expect(try Configuration.load(from: Self.sources(in: scratch), as: .anybody).limits == Limits())
  }

  @Test("a missing directory is a mistake only for --config")
  func missing() throws {
    let scratch = try Scratch()
    #expect(try Self.names(in: scratch).isEmpty)
    let error = #expect(throws: ConfigurationError.self) {
      try Configuration.load(from: .directory("\(scratch.path)/missing"), as: .anybody)
    }
    #expect(
      error?.description
        == "\(scratch.path)/missing: cannot read the directory: No such file or directory; "
        + "create it, or let the daemon's user read it")
  }

  @Test("a directory instead of a file, or a file instead of a directory, is a mistake")
  func notAFile() throws {
    let scratch = try Scratch()
    try scratch.makeDirectories(to: "apps.d/a.toml/x")
    try scratch.link("apps.d/b.toml", to: "\(scratch.path)/missing")
    try scratch.write("apps.d/c.toml", String(repeating: "#", count: 1 << 20) + "\n")
    #expect(
      scratch.problems() == [
        "apps.d/a.toml: cannot read it: it is not a file; replace it with a file, or remove it",
        "apps.d/b.toml: cannot read the file: it is a broken link; point it to a file, or remove it",
        "apps.d/c.toml: cannot read the file: it is larger than 1 MiB; make it shorter",
      ])
    let other = try Scratch()
    try other.write("apps.d", "")
    #expect(
      other.problems() == [
        "apps.d: cannot read the directory: Not a directory; create it, or let the daemon's user read it"
      ])
  }

  @Test("a pipe instead of a file is a mistake, and does not block")
  func pipe() throws {
    let scratch = try Scratch()
    try scratch.makeDirectories(to: "apps.d/x")
    #expect(mkfifo("\(scratch.path)/apps.d/a.toml", 0o644) == 0)
    #expect(
      scratch.problems() == ["apps.d/a.toml: cannot read it: it is not a file; replace it with a file, or remove it"])
  }
}
