import Glibc
import RefreshConfig
import RefreshEngine
import Testing

@Suite("A valid configuration") struct LoadTests {
  @Test("without files has no apps and the default limits")
  func empty() throws {
    #expect(try Scratch().load() == Configuration())
  }

  @Test("has every key of an app's file")
  func whole() throws {
    let scratch = try Scratch()
    try scratch.write(
      "apps.d/todo.toml",
      """
      id = "org.example.todo"
      name = "Zu tun"
      owner = "nobody"
      foreground_interval = "1min"
      background_interval = "never"
      on_foreground = "always"
      deadline = "2min"
      grace = "0"
      directory = "/srv"
      group = "root"
      environment = { LANG = "C", EDITOR = "ed" }

      [[task]]
      name = "pull"
      run = ["/usr/bin/mbsync", "in box"]
      new_data = "changed:~/Mail"
      no_data_exit = 0
      retry_exit = 1
      directory = "~/Mail"
      environment = { LANG = "de" }

      [[task]]
      shell = "echo *"
      new_data = "output"
      """)
    let app = try #require(try scratch.load().apps.first)
    let nobody = try #require(getpwnam("nobody")?.pointee)
    let home = String(cString: nobody.pw_dir)
    #expect(app.id == AppID("org.example.todo"))
    #expect(app.name == "Zu tun")
    #expect(app.file == "\(scratch.path)/apps.d/todo.toml")
    #expect((app.owner.uid, app.owner.gid) == (nobody.pw_uid, nobody.pw_gid))
    #expect((app.owner.name, app.owner.home) == ("nobody", home))
    var policy = Policy(
      foregroundInterval: .every(.minutes(1)), backgroundInterval: .never, onForeground: .always,
      deadline: .minutes(2), grace: .zero,
      tasks: [
        TaskPolicy(name: "pull", newData: .changed(path: "\(home)/Mail"), noDataExit: 0, retryExit: 1),
        TaskPolicy(name: "shell", newData: .output),
      ])
    policy.owner = nobody.pw_uid
    #expect(app.policy == policy)
    #expect(
      app.commands == [
        Command(
          arguments: ["/usr/bin/mbsync", "in box"], directory: "\(home)/Mail",
          environment: ["EDITOR=ed", "LANG=de"], group: 0),
        Command(
          arguments: ["/bin/sh", "-c", "echo *"], directory: "/srv", environment: ["EDITOR=ed", "LANG=C"], group: 0),
      ])
  }

  @Test("completes a short file with the engine's defaults")
  func short() throws {
    let scratch = try Scratch()
    try scratch.write("apps.d/org.example.todo.toml", "id = \"org.example.todo\"\n[[task]]\nrun = [\"true\"]")
    let app = try #require(try scratch.load().apps.first)
    #expect(app.name == "todo")
    #expect(app.file == "\(scratch.path)/apps.d/org.example.todo.toml")
    #expect(app.owner.uid == 0)
    #expect(app.policy == Policy(tasks: [TaskPolicy(name: "true")]))
    #expect(app.commands == [Command(arguments: ["/usr/bin/true"])])
  }

  @Test("takes an app without a task, which refreshes itself", arguments: ["", "task = []"])
  func withoutTask(line: String) throws {
    let scratch = try Scratch()
    try scratch.write("apps.d/org.example.todo.toml", "id = \"org.example.todo\"\n\(line)")
    let app = try #require(try scratch.load().apps.first)
    #expect(app.policy.tasks.isEmpty)
    #expect(app.commands.isEmpty)
  }

  @Test("inherits missing keys from [defaults]")
  func defaults() throws {
    let scratch = try Scratch()
    try scratch.write(
      "refreshd.toml",
      """
      [defaults]
      foreground_interval = "minimum"
      background_interval = "2h"
      deadline = "1min"
      directory = "~/data"
      environment = { LANG = "C", TZ = "UTC" }
      """)
    try scratch.write(
      "apps.d/a.toml",
      """
      id = "org.example.todo"
      background_interval = "1h"
      environment = { TZ = "Europe/Berlin" }
      [[task]]
      run = ["true"]
      """)
    let app = try #require(try scratch.load().apps.first)
    #expect(app.policy.foregroundInterval == .minimum)
    #expect(app.policy.backgroundInterval == .every(.hours(1)))
    #expect(app.policy.deadline == .minutes(1))
    #expect(app.commands[0].directory == "\(app.owner.home)/data")
    #expect(app.commands[0].environment == ["LANG=C", "TZ=Europe/Berlin"])
  }

  @Test("fits refreshd's own defaults to the administrator's limits")
  func limits() throws {
    let scratch = try Scratch()
    try scratch.write(
      "refreshd.toml", "foreground_floor = \"10min\"\nbackground_floor = \"24h\"\ndeadline_cap = \"10s\"")
    try scratch.write("apps.d/a.toml", "id = \"a.b\"\n[[task]]\nrun = [\"true\"]")
    let configuration = try scratch.load()
    #expect(
      configuration.limits
        == Limits(foregroundFloor: .minutes(10), backgroundFloor: .hours(24), deadlineCap: .seconds(10)))
    #expect(configuration.apps[0].policy.foregroundInterval == .minimum)
    #expect(configuration.apps[0].policy.backgroundInterval == .auto())
    #expect(configuration.apps[0].policy.deadline == .seconds(10))
  }

  @Test("names tasks by their programs, numbered if a name is taken")
  func taskNames() throws {
    let scratch = try Scratch()
    try scratch.write(
      "apps.d/a.toml",
      """
      id = "a.b"
      task = [
        { run = ["curl", "1"] }, { run = ["/usr/bin/curl", "2"] }, { shell = "curl 3" }, { name = "curl-2", run = ["x"] },
      ]
      """)
    let app = try #require(try scratch.load().apps.first)
    #expect(app.policy.tasks.map(\.name) == ["curl", "curl-3", "shell", "curl-2"])
  }

  @Test("sorts apps by id, whatever the names of their files")
  func order() throws {
    let scratch = try Scratch()
    for (file, id) in [("1", "c.c"), ("2", "a.a"), ("3", "b.b")] {
      try scratch.write("apps.d/\(file).toml", "id = \"\(id)\"\n[[task]]\nrun = [\"true\"]")
    }
    #expect(try scratch.load().apps.map(\.id.description) == ["a.a", "b.b", "c.c"])
  }

  @Test("ignores hidden files and files without .toml")
  func otherFiles() throws {
    let scratch = try Scratch()
    for name in ["README", "a.toml~", "a.toml.example", ".#a.toml", ".a.toml"] {
      try scratch.write("apps.d/\(name)", "nonsense")
    }
    #expect(try scratch.load().apps.isEmpty)
  }

  @Test("of a thousand apps shares equal values")
  func sharing() throws {
    let scratch = try Scratch()
    for number in 0..<3 {
      try scratch.write(
        "apps.d/\(number).toml",
        """
        id = "org.example.app\(number)"
        directory = "/srv/a/rather/long/directory"
        environment = { LANGUAGE = "a rather long variable" }
        [[task]]
        run = ["/usr/bin/a-rather-long-program", "and its argument"]
        """)
    }
    let apps = try scratch.load().apps
    func buffer<Element>(_ array: [Element]) -> UnsafeRawPointer? {
      array.withUnsafeBytes { $0.baseAddress }
    }
    let commands = apps.map { $0.commands[0] }
    #expect(Set(commands.map { buffer($0.arguments) }).count == 1)
    #expect(Set(commands.map { buffer($0.environment) }).count == 1)
    #expect(Set(apps.map { buffer($0.policy.tasks) }).count == 1)
    #expect(Set(apps.map { ObjectIdentifier($0.owner) }).count == 1)
  }
}

@Suite("Owners of apps") struct OwnerTests {
  static let refusedOwner =
    #"apps.d/a.toml:2: owner: cannot run an app of "root": this daemon runs only the apps of nobody; "#
    + "remove the key, or install the app for the system's daemon"

  func scratch(_ line: String) throws -> Scratch {
    let scratch = try Scratch()
    try scratch.write("apps.d/a.toml", "id = \"a.b\"\n\(line)\n[[task]]\nrun = [\"true\"]")
    return scratch
  }

  @Test("root's system daemon: any user, by name or number")
  func system() throws {
    let nobody = try #require(getpwnam("nobody")?.pointee.pw_uid)
    #expect(try scratch("owner = \"nobody\"").load().apps[0].owner.uid == nobody)
    #expect(try scratch("owner = \"\(nobody)\"").load().apps[0].owner.name == "nobody")
    #expect(try scratch("owner = \(nobody)").load().apps[0].owner.name == "nobody")
    #expect(try scratch("group = 0").load().apps.count == 1)
  }

  @Test("a user's daemon: only that user", arguments: [true, false])
  func user(isUserDaemon: Bool) throws {
    let nobody = try #require(getpwnam("nobody")?.pointee.pw_uid)
    let reader = Reader(uid: nobody, isUserDaemon: isUserDaemon)
    #expect(try scratch("owner = \"root\"").problems(as: reader) == [Self.refusedOwner])
    #expect(try scratch("owner = \"nobody\"").load(as: reader).apps[0].owner.uid == nobody)
    #expect(try scratch("").load(as: reader).apps[0].owner.uid == nobody)
  }

  @Test("root's own user daemon: only root")
  func rootUser() throws {
    let reader = Reader(uid: 0, isUserDaemon: true)
    #expect(try scratch("owner = \"nobody\"").problems(as: reader).count == 1)
  }

  @Test("only the system's daemon may use other groups than the user's own")
  func group() throws {
    let nobody = try #require(getpwnam("nobody")?.pointee)
    let reader = Reader(uid: nobody.pw_uid, isUserDaemon: true)
    #expect(
      try scratch("group = \"root\"").problems(as: reader) == [
        #"apps.d/a.toml:2: group: cannot run in the group "root": only the system's daemon, which runs as root, can; "#
          + "remove the key, or install the app for the system's daemon"
      ])
    #expect(try scratch("group = \"\(nobody.pw_gid)\"").load(as: reader).apps[0].commands[0].group == nobody.pw_gid)
  }

  @Test("a user without an entry, as in a container, has its number as name")
  func unknownUser() throws {
    let app = try scratch("").load(as: Reader(uid: 4_000_000_000)).apps[0]
    #expect(app.owner.name == "4000000000")
    #expect(app.owner.home == "/")
  }
}

@Suite("Programs") struct ProgramTests {
  func problems(_ program: String, with scratch: Scratch) throws -> [String] {
    try scratch.write("apps.d/a.toml", "id = \"a.b\"\n[[task]]\nrun = [\"\(program)\"]")
    return scratch.problems(as: Reader(uid: 0))
  }

  @Test("that are executable files are found")
  func found() throws {
    let scratch = try Scratch()
    #expect(try problems("/bin/sh", with: scratch).isEmpty)
    #expect(try problems("env", with: scratch).isEmpty)
    #expect(try scratch.load(as: Reader(uid: 0)).apps[0].commands[0].arguments == ["/usr/bin/env"])
  }

  @Test("that are directories, not executable or missing are refused")
  func refused() throws {
    let scratch = try Scratch()
    try scratch.write("data", "")
    for program in ["/usr", "\(scratch.path)/data", "\(scratch.path)/missing"] {
      let problems = try problems(program, with: scratch)
      #expect(problems.count == 1)
      #expect(problems[0].contains("it is not an executable file; install the program, or correct its name"))
    }
    #expect(
      try problems("refreshd-has-no-such-program", with: scratch) == [
        #"apps.d/a.toml:3: task.run: cannot find "refreshd-has-no-such-program" in "#
          + "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin; install the program, or correct its name"
      ])
  }

  @Test("that only their owner may execute are found by root, because tasks run as the owner")
  func ownersOnly() throws {
    let scratch = try Scratch()
    try scratch.write("tool", "")
    try #require(chmod("\(scratch.path)/tool", 0o700) == 0)
    #expect(Reader.isExecutableFile("\(scratch.path)/tool"))
  }
}
