import Glibc
import RefreshConfig
import RefreshEngine
import Systemd
import Testing

@testable import RefreshDaemon

@Suite struct UnitNamesTests {
  private let key = ProcessKey(run: RunID(start: 12, number: 345), task: 7)
  private let standard = UnitNames(stateDirectory: "/var/lib/refreshd", isStandard: true)
  private let other = UnitNames(stateDirectory: "/srv/state", isStandard: false)

  @Test func aTaskIsFoundAgainByTheNameOfItsUnit() {
    #expect(standard.unit(of: key) == "refreshd-task-12-345-7.service")
    #expect(standard.key(ofUnit: "refreshd-task-12-345-7.service") == key)
    #expect(other.key(ofUnit: other.unit(of: key)) == key)
    // The same in every process, because the next daemon searches for it.
    #expect(other.unit(of: key) == "refreshd-task-708ac3c5-12-345-7.service")
  }

  @Test func aDaemonIgnoresTheUnitsOfOthers() {
    #expect(standard.key(ofUnit: other.unit(of: key)) == nil)
    #expect(other.key(ofUnit: standard.unit(of: key)) == nil)
    for name in [
      "refreshd-task-.service", "refreshd-task-1-2.service", "refreshd-task-01-2-3.service", "refreshd.service",
    ] {
      #expect(standard.key(ofUnit: name) == nil, "\(name)")
    }
  }

  @Test func anAppHasASliceBelowRefreshd() throws {
    let app = try #require(AppID("org.example.to-do"))
    #expect(UnitNames.slice(of: app) == #"refreshd-org.example.to\x2ddo.slice"#)
    let long = try #require(AppID("a." + String(repeating: "b", count: 250)))
    #expect(UnitNames.slice(of: long).utf8.count <= 255)
    #expect(UnitNames.slice(of: long).dropFirst("refreshd-".count).contains("-") == false)
  }
}

@Suite struct TaskFileTests {
  @Test(arguments: [
    ("PLAIN=text", "PLAIN=\"text\"\n"), ("EMPTY=", "EMPTY=\"\"\n"), ("EQUALS=a=b", "EQUALS=\"a=b\"\n"),
    (#"SPECIAL="\`$'#;"#, ##"SPECIAL="\"\\\`\$'#;""## + "\n"), ("LINES=a\nb", "LINES=\"a\nb\"\n"),
    // Not a name that systemd accepts; bash gives such names to functions.
    ("BASH_FUNC_x%%=() { :; }", ""), ("9=digit", ""), ("nothing", ""),
  ])
  func aVariableIsWrittenAsSystemdReadsIt(variable: String, line: String) {
    #expect(TaskFile.line(for: variable) == line)
  }

  @Test func theNextDaemonReadsWhatThisOneWrote() throws {
    var template = Array("/tmp/tasks-XXXXXX".utf8CString)
    let directory = String(cString: try #require(mkdtemp(&template)))
    let file = TaskFile(of: "refreshd-task-1-1-0.service", in: directory)
    defer {
      file.remove()
      rmdir(directory)
    }
    #expect(file.read() == TaskFile.Contents())
    let print = try #require(Fingerprint(text: "12 beef"))
    try file.write(
      ["A=b", "REFRESH_TOKEN=cafe", "TRAP=\n# token beef\n# printed\n", "LAST=a\n# printed\n# b"], before: print)
    #expect(file.read() == TaskFile.Contents(token: "cafe", before: print))
    try file.notePrinted()
    #expect(file.read() == TaskFile.Contents(token: "cafe", before: print, hasPrinted: true))
    let said = TaskCompletion(
      .failed(.reported("no\n\"route\"")), message: "no\n\"route\"",
      hints: TaskCompletion.Hints(retryAfter: .seconds(90), freshFor: .seconds(5)))
    try file.note(said)
    #expect(
      file.read() == TaskFile.Contents(token: "cafe", before: print, hasPrinted: true, completion: said))
    var status = stat()
    #expect(stat(file.path, &status) == 0 && status.st_mode & 0o777 == 0o600)
  }
}

@Suite struct UnitStateTests {
  private typealias Properties = [String: BusValue]

  /// A task of /bin/sh with a missing directory and user, whose unit has sent these properties.
  private func exit(_ news: [String: BusValue]...) throws -> TaskEnd.Exit? {
    var state = UnitState()
    for news in news { state.apply(news) }
    guard state.isOver else { return nil }
    let task = SystemdTask(
      LeftTask(
        key: ProcessKey(run: RunID(start: 1, number: 1), task: 0), app: try #require(AppID("org.example.todo")),
        command: Command(arguments: ["/bin/sh"], directory: "/nonexistent"),
        owner: Owner(uid: 0, gid: 0, name: "nobody-of-this-name", home: "/"), changedPath: nil),
      units: UnitNames(stateDirectory: "/", isStandard: true), files: "/")
    return state.exit(of: task)
  }

  private func state(_ name: String, job: UInt64 = 0) -> Properties {
    ["ActiveState": .string(name), "Job": .structure([.unsigned(job), .path("/")])]
  }

  private func end(_ result: String, _ code: Int64, _ status: Int64) -> Properties {
    ["Result": .string(result), "ExecMainCode": .integer(code), "ExecMainStatus": .integer(status)]
  }

  @Test func aUnitThatStartsOrRunsIsNotOver() throws {
    #expect(try exit() == nil)
    #expect(try exit(state("inactive", job: 7)) == nil)
    #expect(try exit(state("activating", job: 7)) == nil)
    #expect(try exit(state("active")) == nil)
    // The unit was asked to stop and is stopping.
    #expect(try exit(state("active"), state("deactivating"), end("success", 0, 0)) == nil)
  }

  @Test func theEndOfTheMainProcessIsTheEnd() throws {
    #expect(try exit(state("active"), end("success", 1, 0)) == .exited(0))
    #expect(try exit(state("active"), end("exit-code", 1, 203), state("failed")) == .exited(203))
    #expect(try exit(state("active"), end("signal", 2, 9), state("failed")) == .signalled(9))
    #expect(try exit(state("active"), end("core-dump", 3, 11), state("failed")) == .signalled(11))
    #expect(try exit(state("active"), end("timeout", 2, 15), state("failed")) == .timedOut)
    #expect(try exit(state("active"), end("oom-kill", 2, 9), state("failed")) == .outOfMemory)
    #expect(try exit(state("active"), end("oom-kill", 1, 0), state("failed")) == .outOfMemory)
    // The program can run, so the status is its own: it ended before the manager knew that it ran.
    #expect(try exit(state("activating", job: 7), end("exit-code", 1, 203), state("failed")) == .exited(203))
    // The task asks for nothing that could fail before the program runs.
    #expect(try exit(state("activating", job: 7), end("exit-code", 1, 228), state("failed")) == .exited(228))
    // The program ran so briefly that the unit was never active.
    #expect(try exit(["ActiveEnterTimestampMonotonic": .unsigned(9)], end("exit-code", 1, 217)) == .exited(217))
    #expect(try exit(end("exit-code", 1, 3), state("failed")) == .exited(3))
  }

  @Test(arguments: [
    (200, "cannot start /bin/sh: cannot enter its directory /nonexistent; make it, or name another"),
    (217, "cannot start /bin/sh: cannot become user nobody-of-this-name"),
  ])
  func aProgramThatDidNotRunHasAReason(status: Int64, sentence: String) throws {
    #expect(
      try exit(state("activating", job: 7), end("exit-code", 1, status), state("failed")) == .notStarted(sentence))
  }

  @Test func anAbandonedStartIsAnEnd() throws {
    let given = try exit(state("inactive", job: 7), state("inactive"))
    #expect(given == .notStarted("cannot start /bin/sh: the service manager gave up its start (success)"))
  }
}
