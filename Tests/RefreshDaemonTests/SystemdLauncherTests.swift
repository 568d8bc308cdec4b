import CSystemd
import Glibc
import RefreshConfig
import RefreshEngine
import Testing

@testable import RefreshDaemon
@testable import Systemd

/// Cases that no app's file can cause yet; Tests/ServiceTests/test_launcher_input.py runs them under a test's own
/// systemd.
@Suite struct SystemdLauncherTests {
  @Test(arguments: [0, 5, 300_000])
  func aTaskReadsItsInputToTheEnd(size: Int) throws {
    let input = [UInt8](repeating: UInt8(ascii: "x"), count: size)
    let (end, lines) = try play(task("wc -c; echo done", number: 1, input: input))
    #expect(end.exit == .exited(0))
    #expect(lines == ["\(size)", "done"])
  }

  @Test func aTaskWithoutInputHasNone() throws {
    let (end, lines) = try play(task("wc -c; readlink /proc/self/fd/0", number: 2))
    #expect(end.exit == .exited(0))
    #expect(lines == ["0", "/dev/null"])
  }

  @Test func aRefusalOfTheManagerIsQuoted() throws {
    let nobody = Owner(uid: 0, gid: 0, name: "no:user", home: "/")
    guard case .notStarted(let sentence) = try play(launch(["/bin/sh"], owner: nobody)).end.exit else {
      return #expect(Bool(false))
    }
    #expect(sentence.hasPrefix("cannot start /bin/sh: the service manager refuses: "))
    #expect(sentence.contains("no:user"))
  }

  @Test func aTaskThatIsStoppedBeforeTheDaemonKnowsThatItRunsEnds() throws {
    let launch = try task("exec sleep 60", number: 3)
    let (end, _) = try play(launch) { launcher in
      // The loop does not turn meanwhile, so the launcher has not read the manager's reply.
      let name = try #require(launcher.tasks[launch.key]?.unit)
      try wait { $0.contains { $0.name == name && $0.activeState == "active" } }
      launcher.terminate(launch.key)
      try wait { !$0.contains { $0.name == name } }
    }
    #expect(end.message.isEmpty)
  }

  /// Waits until this is so of the units that the manager knows.
  private func wait(until isSo: ([ListedUnit]) -> Bool) throws {
    let manager = try BusSession(.system)
    let bound = EventLoop.bootMicroseconds() + 10_000_000
    while !isSo(ListedUnit.list(in: try manager.call(ServiceManager.listTasks))) {
      try #require(EventLoop.bootMicroseconds() < bound, "the unit changes within 10 s")
    }
  }

  /// A task of root that runs a shell script.
  private func task(_ script: String, number: Int, input: [UInt8]? = nil) throws -> TaskLaunch {
    try launch(
      ["/bin/sh", "-c", script], task: number, owner: Owner(uid: 0, gid: 0, name: "root", home: "/"), input: input)
  }

  /// Runs a task as a unit of the system's manager, and calls `whileStarting` once the manager was asked to start it.
  private func play(_ launch: TaskLaunch, whileStarting: ((SystemdLauncher) throws -> Void)? = nil) throws
    -> (end: TaskEnd, lines: [String])
  {
    var template = Array("/run/tasks-XXXXXX".utf8CString)
    let directory = String(cString: try #require(mkdtemp(&template)))
    defer { rmdir(directory) }
    let loop = try EventLoop()
    let setup = SystemdLauncher.Setup(
      bus: .system, isUserManager: false, units: UnitNames(stateDirectory: directory, isStandard: false),
      files: directory, cgroup: "/sys/fs/cgroup")
    let witness = Witness(loop)
    let launcher = try SystemdLauncher(on: loop, with: setup, for: witness)
    witness.launcher = launcher
    let bound = try loop.timer { loop.exit(1) }
    bound.arm(at: EventLoop.bootMicroseconds() + 30_000_000, accuracy: 1)
    launcher.start(launch, before: nil)
    #expect(witness.end == nil, "nothing is called back from inside start")
    if let whileStarting {
      while !launcher.isStarting(launch.key) { try #require(sd_event_run(loop.event, 1_000_000) >= 0) }
      try whileStarting(launcher)
    }
    try #require(try loop.run() == 0, "the task ends within 30 s")
    withExtendedLifetime(bound) {}
    return (try #require(witness.end), witness.lines)
  }

  /// Keeps what a task prints, and its end; then ends the loop.
  private final class Witness: ProcessOwner {
    private let loop: EventLoop
    weak var launcher: SystemdLauncher?
    private(set) var lines: [String] = []
    private(set) var end: TaskEnd?

    init(_ loop: EventLoop) { self.loop = loop }

    func printed(_ line: String, by key: ProcessKey) { lines.append(line) }

    func ended(_ key: ProcessKey, _ end: TaskEnd) {
      self.end = end
      launcher?.release(key.run)
      loop.exit(0)
    }
  }
}

extension SystemdLauncher {
  /// Whether the manager was asked to start a task, and its reply was not read.
  fileprivate func isStarting(_ key: ProcessKey) -> Bool {
    if case .starting = tasks[key]?.state { true } else { false }
  }
}
