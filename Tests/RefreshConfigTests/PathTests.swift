import Glibc
import RefreshEngine
import Testing

@testable import RefreshConfig

@Suite("`watch` names folders in which a change asks for a refresh") struct WatchTests {
  private static let task = "[[task]]\nrun = [\"/usr/bin/true\"]\n"

  private func load(_ keys: String, as reader: Reader = FetchTests.reader) throws -> AppConfiguration {
    let scratch = try Scratch()
    try scratch.write("apps.d/x.toml", "id = \"a.b\"\n\(keys)\n\(Self.task)")
    return try scratch.load(as: reader).apps[0]
  }

  private func problems(_ keys: String) throws -> [String] {
    let scratch = try Scratch()
    try scratch.write("apps.d/x.toml", "id = \"a.b\"\n\(keys)\n\(Self.task)")
    return scratch.problems(as: FetchTests.reader)
  }

  @Test("a folder is an absolute path, or one from the owner's home")
  func paths() throws {
    let app = try load("watch = [\"~/Notes\", \"/srv/mail\"]\nwatch_settle = \"1min\"")
    #expect(app.policy.watch == ["~/Notes", "/srv/mail"] && app.policy.watchSettle == .minutes(1))
    #expect(app.watchedFolders.map(\.path) == ["\(app.owner.home)/Notes", "/srv/mail"])
    #expect(try load("").policy.watch.isEmpty)
    #expect(try load("watch = [\"/srv\"]").policy.watchSettle == .seconds(30))
  }

  @Test("`[defaults]` may have the settle time of every app, and folders that all apps have")
  func defaults() throws {
    let scratch = try Scratch()
    try scratch.write("refreshd.toml", "[defaults]\nwatch_settle = \"2min\"\n")
    try scratch.write("apps.d/x.toml", "id = \"a.b\"\nwatch = [\"~/Notes\"]\n\(Self.task)")
    #expect(try scratch.load(as: FetchTests.reader).apps[0].policy.watchSettle == .minutes(2))
  }

  private static let form =
    #"it is not the absolute path of a folder; begin with a slash, or with ~/ for the owner's home, without "..", "." or "#
    + "a final slash"

  @Test(
    "what cannot be watched is a mistake",
    arguments: [
      (#"watch = ["Notes"]"#, #"watch: cannot watch "Notes": \#(form)"#),
      (#"watch = ["/srv/../etc"]"#, #"watch: cannot watch "/srv/../etc": \#(form)"#),
      (#"watch = ["/srv/"]"#, #"watch: cannot watch "/srv/": \#(form)"#),
      (#"watch = ["/"]"#, #"watch: cannot watch "/": it is too large to watch; name folders inside it"#),
      (#"watch = ["~"]"#, #"watch: cannot watch "~": it is too large to watch; name folders inside it"#),
      (#"watch = [""]"#, #"watch: cannot watch "": \#(form)"#),
      (#"watch = ["~bob/Notes"]"#, #"watch: cannot watch "~bob/Notes": \#(form)"#),
      (#"watch = "~/Notes""#, #"watch: cannot use a string here; write for example watch = ["~/Notes"]"#),
      (#"watch = ["/srv", "/srv"]"#, #"watch: cannot watch "/srv" twice; write it once"#),
      (
        "watch = [\((0...16).map { "\"/srv/\($0)\"" }.joined(separator: ", "))]",
        "watch: cannot watch 17 folders for one app; write at most 16; the folders inside them are watched too"
      ),
      (
        "watch = [\"/srv\"]\nwatch_settle = \"500ms\"",
        "watch_settle: cannot use 500ms: it is out of range; write 2s to 1h"
      ),
      (
        "watch_settle = \"1min\"",
        "watch_settle: cannot use watch_settle without watch; "
          + "add for example watch = [\"~/Notes\"]"
      ),
    ])
  func mistakes(_ keys: String, _ problem: String) throws {
    let problems = try problems(keys)
    #expect(problems.count == 1 && problems[0].hasSuffix(problem), "\(problems)")
  }

  @Test("a folder that only the daemon sees otherwise is refused")
  func privateFolders() throws {
    let reader = Reader(uid: 0, isProgram: { _ in true }, privateFolders: ["/tmp"])
    #expect(throws: ConfigurationError.self) { try load("watch = [\"/tmp/notes\"]", as: reader) }
  }

  @Test("a folder that is not there, or is a file, is a warning of `check`")
  func warnings() throws {
    let scratch = try Scratch()
    try scratch.write(
      "apps.d/x.toml",
      "id = \"a.b\"\nwatch = [\"\(scratch.path)\", \"\(scratch.path)/none\", \"\(scratch.path)/apps.d/x.toml\"]\n\(Self.task)"
    )
    let warnings = WatchedPaths.warnings(of: try scratch.load(as: FetchTests.reader))
    #expect(warnings.allSatisfy { $0.isWarning && $0.key == "watch" })
    #expect(
      warnings.map { "\($0.message); \($0.remedy)" } == [
        #"cannot find the folder "\#(scratch.path)/none"; create it; it is watched from then on"#,
        #"cannot watch "\#(scratch.path)/apps.d/x.toml": it is not a folder; write the folder that contains it"#,
      ])
  }
}

@Suite("The path of a file that a worker writes or reads") struct TargetPathTests {
  private func isTaken(_ path: String, _ suffix: String?) -> Bool {
    (try? TargetPath.check(path, suffix: suffix)) != nil
  }

  @Test(
    "leaves room for the suffix of a part, where there will be one",
    arguments: [(nil, 255), (TargetPath.transferSuffix, 250), (TargetPath.fetchSuffix, 241)] as [(String?, Int)])
  func room(_ suffix: String?, _ most: Int) {
    #expect(isTaken("/d/" + String(repeating: "x", count: most), suffix))
    #expect(!isTaken("/d/" + String(repeating: "x", count: most + 1), suffix))
  }

  @Test("is not that of one of refreshd's own files, if it is written")
  func ownFiles() {
    #expect(!isTaken("/d/feed.refreshd-part", TargetPath.fetchSuffix))
    #expect(!isTaken("/d/feed.refreshd-part", TargetPath.transferSuffix))
    #expect(isTaken("/d/feed.refreshd-part", nil))
  }
}

@Suite("A daemon with a private /tmp") struct PrivateFoldersTests {
  static let mounts: [(line: String, folder: String?)] = [
    ("36 35 8:1 /tmp/systemd-private-0a1b-refreshd.service-XyZ/tmp /tmp rw,noatime - ext4 /dev/sda1 rw", "/tmp"),
    ("36 35 8:1 /var/tmp/systemd-private-0a1b-refreshd.service-XyZ/tmp /var/tmp rw - ext4 /dev/sda1 rw", "/var/tmp"),
    ("36 35 0:31 /systemd-private-0a1b-refreshd.service-XyZ/tmp /tmp rw - tmpfs tmpfs rw", "/tmp"),
    ("36 35 0:31 / /tmp rw,nosuid - tmpfs tmpfs rw", nil),
    ("36 35 0:31 /systemd-private-0a1b/tmp /srv rw - tmpfs tmpfs rw", nil),
    ("36 35", nil),
  ]

  @Test("is recognized by its mounts", arguments: mounts)
  func mount(line: String, folder: String?) {
    #expect(Reader.privateFolder(inMount: line) == folder)
  }

  @Test("cannot watch a path there")
  func refused() throws {
    let scratch = try Scratch()
    let reader = Reader(uid: 0, isProgram: { _ in true }, privateFolders: ["/tmp"])
    try scratch.write("apps.d/x.toml", "id = \"a.b\"\n[[task]]\nrun = [\"true\"]\nnew_data = \"changed:/tmp/inbox\"")
    #expect(
      scratch.problems(as: reader) == [
        #"apps.d/x.toml:4: task.new_data: cannot watch "/tmp/inbox": the daemon has its own /tmp; "#
          + "choose a path elsewhere, or set PrivateTmp=no with systemctl edit refreshd"
      ])
    try scratch.write("apps.d/x.toml", "id = \"a.b\"\n[[task]]\nrun = [\"true\"]\nnew_data = \"changed:/tmpfiles\"")
    #expect(scratch.problems(as: reader) == [])
  }
}
