import RefreshConfig
import Testing

@Suite("Every mistake is reported with its file, line and remedy") struct ProblemTests {
  /// A file with mistakes, and all its problems.
  struct Row: Sendable, CustomTestStringConvertible {
    let text: String
    let problems: [String]
    var testDescription: String { problems.first ?? text }

    init(_ text: String, _ problems: String...) {
      self.text = text
      self.problems = problems
    }
  }

  static let durations = #"write for example "15min" or "1h 30min""#
  static let intervals = durations + #", or "minimum", or "never""#
  static let oneOf =
    #"write one of run = ["PROGRAM", "ARGUMENT"], shell = "COMMAND", http = { url = "URL", to = "/PATH" }"#
    + #", transfer = { url = "URL", to = "/PATH" }, replicate = { source = "URL", target = "URL" }, unit = "mbsync.service""#
    + #" and activate = "org.example.Notes""#

  /// The keys of `[defaults]`, which an app's file has too.
  static let sharedKeys = [
    "background_floor", "background_interval", "background_priority", "calm", "deadline", "denied_ssids", "directory",
    "environment", "failures_before_notice", "foreground_interval", "front", "grace", "group", "held_for", "idle",
    "lifecycle", "max_stale", "memory_max", "metered_when_stale", "mounted", "network", "offline", "on_failure",
    "on_foreground", "on_held", "on_new_data", "on_stale", "on_success", "ping", "power", "present", "push_burst",
    "push_per_hour", "quiet", "reachable", "sandbox", "ssids", "stale_after", "terminated_on_exit", "watch",
    "watch_settle", "when", "writable",
  ]
  /// The keys of an app's file.
  static let appKeys = (sharedKeys + ["desktop", "id", "kind", "name", "owner", "pin", "task"]).sorted()

  /// App files that have a valid id in line 1 and a valid task at the end.
  static let apps: [Row] = [
    Row(
      #"background_interval = "5 fortnights""#,
      #"2: background_interval: cannot read "5 fortnights" as a duration: "fortnights" is not a unit of time; "#
        + durations + #", or "auto", or "never""#
    ),
    Row(
      #"background_interval = "14min""#,
      "2: background_interval: cannot refresh every 14min: the floor is 15min; "
        + "write a longer interval, or lower background_floor in refreshd.toml"),
    Row(
      #"foreground_interval = "1s""#,
      #"2: foreground_interval: cannot refresh every 1s: the floor is 5s; "#
        + #"write "minimum" for as often as the system allows"#),
    Row(
      "deadline = 30", #"2: deadline: cannot use an integer here; write for example deadline = "30s""#),
    Row(#"deadline = "500ms""#, "2: deadline: cannot use 500ms: it is out of range; write 1s to 10min"),
    Row(#"deadline = "11min""#, "2: deadline: cannot use 11min: it is out of range; write 1s to 10min"),
    Row(#"grace = "61s""#, "2: grace: cannot use 1min 1s: it is out of range; write 0 to 1min"),
    Row(
      #"on_foreground = "Always""#,
      #"2: on_foreground: cannot use "Always" here; write "stale", "always" or "never""#),
    Row(
      "\n# a comment\nname = 5.0",
      #"4: name: cannot use a decimal number here; write for example name = "Todo""#),
    Row(#"name = """#, #"2: name: cannot name an app ""; write 1 to 255 bytes without control characters"#),
    Row(
      #"name = "a\u0007b""#,
      "2: name: cannot name an app \"a\u{FFFD}b\"; write 1 to 255 bytes without control characters"),
    Row(
      #"owner = "nobody-of-this-name""#,
      #"2: owner: cannot find a user "nobody-of-this-name" on this machine; "#
        + "write a name or number from /etc/passwd"),
    Row(
      #"group = "nobody-of-this-name""#,
      #"2: group: cannot find a group "nobody-of-this-name" on this machine; "#
        + "write a name or number from /etc/group"),
    Row(
      #"directory = "Mail""#,
      #"2: directory: cannot use "Mail" as a directory: the path is not absolute; "#
        + "begin with a slash, or with ~/ for the owner's home"),
    Row(
      "environment = { LANG = 1, 2X = \"a\", REFRESH_APP = \"b\" }",
      "2: environment.2X: cannot use \"2X\" as the name of a variable; use letters, digits and _, but no digit first",
      #"2: environment.LANG: cannot use an integer here; write for example LANG = "C.UTF-8""#,
      "2: environment.REFRESH_APP: cannot set REFRESH_APP: refreshd sets the variables with that prefix; "
        + "choose another name"),
    Row(
      "\n[environment]\nLANG = true",
      #"4: environment.LANG: cannot use a boolean here; write for example LANG = "C.UTF-8""#),
    Row(
      #"bakground_interval = "1h""#,
      "2: bakground_interval: unknown key; did you mean background_interval?"),
    Row(
      #"new_data = "output""#,
      "2: new_data: unknown key; move it down, below the header of task"),
    Row(
      #""we\nird" = 1"#,
      "2: we\u{FFFD}ird: unknown key; the keys here are \(appKeys.joined(separator: ", "))"
    ),
    Row(
      #"deadline = "1s"#,
      "2:15: cannot read the file as TOML: a string is not closed on its line; add the closing quote"
    ),
    Row(
      "desktop = [\"org.example.Notes\", \"a/b\"]\nfront = \"seen\"\nlifecycle = \"none\"",
      #"2: desktop: cannot use "a/b" as a desktop id; write an id that refresh-session --list prints, without a slash, "#
        + "of 1 to 255 bytes",
      #"3: front: cannot use "seen" here; write "focused" or "open""#,
      #"4: lifecycle: cannot use "none" here; write "desktop" or "signals""#),
    Row(
      "desktop = [\"1\", \"2\", \"3\", \"4\", \"5\", \"6\", \"7\", \"8\", \"9\"]",
      "2: desktop: cannot use 9 desktop ids for one app; write at most 8"),
    Row(
      "deadline = \"1s\"\ngrace = \"61s\"\nname = 1",
      "3: grace: cannot use 1min 1s: it is out of range; write 0 to 1min",
      #"4: name: cannot use an integer here; write for example name = "Todo""#),
  ]

  @Test("in the keys of an app", arguments: apps)
  func app(row: Row) throws {
    let scratch = try Scratch()
    try scratch.write(
      "apps.d/x.toml", "id = \"org.example.todo\"\n\(row.text)\n[[task]]\nrun = [\"/usr/bin/true\"]\n")
    #expect(scratch.problems() == row.problems.map { "apps.d/x.toml:\($0)" })
  }

  /// Tasks; the header of each is in line 2 of the file.
  static let tasks: [Row] = [
    Row("name = \"pull\"", "2: the task has no command; \(oneOf)"),
    Row("run = [\"true\"]\nshell = \"true\"", "2: cannot run both run and shell; \(oneOf)"),
    Row("run = []", #"3: task.run: cannot run an empty command; write for example ["/usr/bin/mbsync", "inbox"]"#),
    Row(
      "run = \"true\"",
      #"3: task.run: cannot use a string here; write for example run = ["/usr/bin/mbsync", "inbox"]"#),
    Row(
      "run = [\"sleep\", 5]",
      #"3: task.run: cannot use an integer as an argument; put it in quotes, as in ["sleep", "5"]"#),
    Row(
      "run = [\"bin/true\"]",
      #"3: task.run: cannot find the program "bin/true" by a relative path; write its absolute path, or only its name"#),
    Row(
      "run = [\"/opt/missing\"]",
      #"3: task.run: cannot execute "/opt/missing": it is not an executable file; install the program, or correct its name"#
    ),
    Row("run = [\"true\", \"a\\u0000b\"]", "3: task.run: cannot put a NUL into an argument; remove the \\u0000"),
    Row("shell = \"\"", "3: task.shell: cannot run an empty command or one with a NUL; write what /bin/sh should run"),
    Row(
      "run = [\"true\"]\nname = \"a b\"",
      #"4: task.name: cannot name a task "a b"; write 1 to 64 letters, without spaces"#),
    Row(
      "run = [\"true\"]\nnew_data = \"changed:Mail\"",
      #"4: task.new_data: cannot use "changed:Mail" here; write "exit", "output" or "changed:/ABSOLUTE/PATH""#),
    Row(
      "run = [\"true\"]\nno_data_exit = 256",
      "4: task.no_data_exit: cannot use 256: it is out of range; write 0 to 255"),
    Row(
      "run = [\"true\"]\nretry_exit = 0", "4: task.retry_exit: cannot use 0: it is out of range; write 1 to 255"),
    Row(
      "run = [\"true\"]\nno_data_exit = 75",
      "4: task.no_data_exit: cannot use exit code 75 for both no_data_exit and retry_exit; "
        + "write two different codes"),
    Row(
      "run = [\"true\"]\ndeadline = \"1s\"",
      "4: task.deadline: unknown key; "
        + "move it up, before the first line that begins with ["),
    Row(
      "run = [\"true\"]\nnewdata = \"exit\"",
      "4: task.newdata: unknown key; did you mean task.new_data?"),
    Row(
      "name = \"pull\"\nrun = [\"true\"]\n[[task]]\nname = \"pull\"\nrun = [\"true\"]",
      #"6: task.name: cannot name two tasks "pull"; give each task its own name"#),
  ]

  @Test("in the keys of a task", arguments: tasks)
  func task(row: Row) throws {
    let scratch = try Scratch()
    try scratch.write("apps.d/x.toml", "id = \"org.example.todo\"\n[[task]]\n\(row.text)\n")
    #expect(scratch.problems() == row.problems.map { "apps.d/x.toml:\($0)" })
  }

  /// Whole app files.
  static let files: [Row] = [
    Row(
      "[[task]]\nrun = [\"true\"]",
      #": id: the app has no id; write for example id = "org.example.todo""#),
    Row(
      "id = \"todo\"\n[[task]]\nrun = [\"true\"]",
      #":1: id: cannot use "todo" as an app id; "#
        + "write two or more parts of letters, digits, _ and -, none of which begins with a digit, in 255 bytes at most, "
        + #"as in "org.example.todo""#),
    Row(
      "id = \"org.example.todo\"\n" + String(repeating: "[[task]]\nrun = [\"true\"]\n", count: 65),
      ":2: task: cannot refresh an app with 65 tasks; write at most 64 tasks"),
    Row(
      "id = \"org.example.todo\"\ntask = [1]",
      ":2: task: cannot use an array here; write for example [[task]], a table for each task"),
    Row("id = \"a.b\"\n\u{0}", ":2:1: cannot read the file as TOML: "),
  ]

  @Test("in a whole file", arguments: files)
  func file(row: Row) throws {
    let scratch = try Scratch()
    try scratch.write("apps.d/x.toml", row.text)
    #expect(
      scratch.problems().map { $0.hasPrefix("apps.d/x.toml\(row.problems[0])") } == [true], "\(scratch.problems())")
  }

  @Test("in refreshd.toml")
  func main() throws {
    let scratch = try Scratch()
    try scratch.write(
      "refreshd.toml",
      """
      foreground_floor = "25h"
      deadline_cap = 5
      [defaults]
      background_interval = "1s"
      owner = "root"
      tusk = 1
      """)
    #expect(
      scratch.problems() == [
        "refreshd.toml:1: foreground_floor: cannot use 1d 1h: it is out of range; write 1ms to 1d",
        #"refreshd.toml:2: deadline_cap: cannot use an integer here; write for example deadline_cap = "10min""#,
        "refreshd.toml:4: defaults.background_interval: cannot refresh every 1s: the floor is 15min; "
          + "write a longer interval, or lower background_floor in refreshd.toml",
        "refreshd.toml:5: defaults.owner: unknown key; put it in an app's file",
        "refreshd.toml:6: defaults.tusk: unknown key; the keys here are "
          + Self.sharedKeys.joined(separator: ", "),
      ])
  }

  @Test("of every file at once, by file and line")
  func allFiles() throws {
    let scratch = try Scratch()
    try scratch.write("refreshd.toml", "deadline_cap = \"\"")
    try scratch.write("apps.d/b.toml", "id = \"b\"\nname = 1\n[[task]]\nrun = [\"true\"]")
    try scratch.write("apps.d/a.toml", "id = ")
    #expect(
      scratch.problems().map { $0.prefix { $0 != " " } } == [
        "apps.d/a.toml:1:6:", "apps.d/b.toml:1:", "apps.d/b.toml:2:", "refreshd.toml:1:",
      ])
  }

  @Test(
    "an app is not blamed for a limit that cannot be read", arguments: ["background_floor = 1", "background_floor ="])
  func unknownLimit(text: String) throws {
    let scratch = try Scratch()
    try scratch.write("refreshd.toml", text)
    try scratch.write(
      "apps.d/a.toml", "id = \"a.b\"\nbackground_interval = \"1s\"\n[[task]]\nrun = [\"true\"]")
    #expect(scratch.problems().count == 1)
    #expect(scratch.problems()[0].hasPrefix("refreshd.toml:1:"))
  }

  @Test("two apps of one id, by the names of both files")
  func secondApp() throws {
    let scratch = try Scratch()
    try scratch.write("apps.d/a.toml", "id = \"a.b\"\n[[task]]\nrun = [\"true\"]")
    try scratch.write("apps.d/b.toml", "\nid = \"a.b\"\n[[task]]\nrun = [\"true\"]")
    #expect(
      scratch.problems() == [
        "apps.d/b.toml:2: id: cannot use the id a.b twice: apps.d/a.toml:1 has it already; "
          + "give one of them another id, or remove one"
      ])
  }
}
