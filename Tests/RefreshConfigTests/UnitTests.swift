import RefreshEngine
import Testing

@testable import RefreshConfig

@Suite("The task kind `unit` starts a service of systemd") struct UnitTests {
  @Test("the task has the name of its unit, and takes the keys by which outcomes are judged")
  func task() throws {
    let app = try FetchTests.load("unit = \"mbsync@work.service\"\nno_data_exit = 3\nnew_data = \"changed:/srv/mail\"")
    #expect(
      app.policy.tasks == [TaskPolicy(name: "mbsync@work", newData: .changed(path: "/srv/mail"), noDataExit: 3)])
    #expect(app.commands[0].arguments == ["/usr/libexec/refresh-worker", "unit"])
    #expect(app.commands[0].unit?.name == "mbsync@work.service")
  }

  @Test("only root's apps of the system's daemon mean units of the machine")
  func managers() throws {
    #expect(try FetchTests.load("unit = \"a.service\"").commands[0].unit?.isOfMachine == true)
    let scratch = try Scratch()
    try scratch.write("apps.d/x.toml", "id = \"a.b\"\nowner = \"daemon\"\n[[task]]\nunit = \"a.service\"\n")
    #expect(try scratch.load(as: FetchTests.reader).apps[0].commands[0].unit?.isOfMachine == false)
    let users = Reader(uid: 0, isUserDaemon: true, isProgram: { _ in true }, workers: ["/usr/libexec/refresh-worker"])
    try scratch.write("apps.d/x.toml", "id = \"a.b\"\n[[task]]\nunit = \"a.service\"\n")
    #expect(try scratch.load(as: users).apps[0].commands[0].unit?.isOfMachine == false)
  }

  @Test(
    "a name that cannot be started is a mistake with the name to write",
    arguments: [
      ("mbsync", #"cannot use "mbsync" as the name of a unit: it has no suffix; write "mbsync.service""#),
      (
        "mbsync.timer",
        #"cannot wait for the end of "mbsync.timer": only a service does its work and ends; "#
          + #"write the unit that it starts, such as "mbsync.service""#
      ),
      (
        "network.target",
        #"cannot wait for the end of "network.target": only a service does its work and ends; write a .service"#
      ),
      (
        "mbsync@.service",
        #"cannot start the template "mbsync@.service" itself; write an instance, such as "mbsync@work.service""#
      ),
      ("refreshd.service", #"cannot start "refreshd.service": it belongs to refreshd; choose another unit"#),
      (
        "a b.service",
        #"cannot use "a b.service" as the name of a unit; write the name that systemctl shows, as in "mbsync.service""#
      ),
      (
        ".service",
        #"cannot use ".service" as the name of a unit; write the name that systemctl shows, as in "mbsync.service""#
      ),
    ])
  func names(_ name: String, _ problem: String) throws {
    #expect(try FetchTests.problems("unit = \"\(name)\"") == ["3: task.unit: \(problem)"])
  }

  @Test("keys that say how a process is started, and the output, have no meaning for a unit")
  func keys() throws {
    #expect(
      try FetchTests.problems("unit = \"a.service\"\ndirectory = \"/srv\"\nnew_data = \"output\"") == [
        "4: task.directory: cannot set directory for a unit: systemd starts it with the settings of its own file; "
          + "put it in a drop-in of the unit (systemctl edit)",
        "5: task.new_data: cannot judge a unit by its output: it goes to systemd's journal; "
          + #"write "exit" or "changed:/ABSOLUTE/PATH""#,
      ])
    #expect(
      try FetchTests.problems("unit = \"a.service\"\n[[task]]\nname = \"b\"\nunit = \"a.service\"") == [
        "6: task.unit: cannot start a.service twice in one refresh; remove one of the tasks"
      ])
  }

  /// The warnings about a unit on a machine with these files, each empty or with a text.
  private func warnings(_ unit: String, owner: String = "root", _ files: [String: String]) throws -> [String] {
    let scratch = try Scratch()
    try scratch.write("etc/apps.d/x.toml", "id = \"a.b\"\nowner = \"\(owner)\"\n[[task]]\nunit = \"\(unit)\"\n")
    for (file, text) in files { try scratch.write("root/\(file)", text) }
    let configuration = try Configuration.load(from: .directory("\(scratch.path)/etc"), as: FetchTests.reader)
    return UnitFiles(root: "\(scratch.path)/root").warnings(of: configuration).map { "\($0.message); \($0.remedy)" }
  }

  @Test("the names of timers are those of their files, once each and without templates")
  func names() throws {
    let scratch = try Scratch()
    for file in [
      "usr/lib/systemd/system/a.timer", "etc/systemd/system/a.timer", "usr/lib/systemd/system/b@.timer",
      "usr/lib/systemd/system/c.service", "run/systemd/generator/d.timer", "home/x/.config/systemd/user/e.timer",
      "usr/lib/systemd/user/f.timer",
    ] { try scratch.write("root/\(file)", "") }
    let files = UnitFiles(root: "\(scratch.path)/root")
    #expect(files.names(endingIn: ".timer") == ["a.timer", "d.timer"])
    #expect(files.names(endingIn: ".timer", ofUser: (uid: 7, home: "/home/x")) == ["e.timer", "f.timer"])
    #expect(files.names(endingIn: ".path").isEmpty)
  }

  @Test("`check` warns of a unit that is missing, masked, or not the owner's")
  func warnings() throws {
    let there = ["usr/lib/systemd/system/a.service": "[Service]", "usr/lib/systemd/system/b@.service": "[Service]"]
    #expect(try warnings("a.service", there).isEmpty)
    #expect(try warnings("b@x.service", there).isEmpty)
    #expect(
      try warnings("c.service", there)
        == ["cannot find c.service among the units of the system; correct the name, or install it"])
    #expect(
      try warnings("a.service", there.merging(["etc/systemd/system/a.service": ""]) { $1 })
        == ["cannot start a.service: it is masked; run systemctl unmask a.service"])
    #expect(
      try warnings("a.service", owner: "daemon", there) == [
        "cannot start a.service for daemon: it is a unit of the system, and this app starts units of its "
          + "owner's service manager; start it from an app of root in the system's daemon, or put a unit in "
          + "~/.config/systemd/user"
      ])
    #expect(try warnings("a.service", owner: "daemon", ["etc/systemd/user/a.service": "[Service]"]).isEmpty)
  }
}
