import Glibc
import RefreshConfig
import RefreshEngine
import Systemd
import Testing

@testable import RefreshDaemon

/// Real processes on a real loop, and a record of what they print and of their ends.
final class Stage: ProcessOwner {
  /// Unique to this test process, so that other test processes do not kill its tasks.
  static let socket = "/run/refreshd/stage-\(getpid())"

  let loop: EventLoop
  let processes: Processes
  private(set) var ends: [ProcessKey: TaskEnd] = [:]
  private(set) var lines: [ProcessKey: [String]] = [:]
  /// Called for each line, after it was added to ``lines``.
  var onLine: (ProcessKey, String) -> Void = { _, _ in }
  /// Called for each end, after it was added to ``ends``.
  var onEnd: (ProcessKey) -> Void = { _ in }
  private var awaited = 0
  /// Goes off when no task has ended for a long time: many tasks take as long as a busy machine lets them.
  private var bound: TimerSource?

  init(trees: (EventLoop) throws -> any ProcessTrees = { try SubreaperTrees(on: $0, socket: Stage.socket) }) throws {
    loop = try EventLoop()
    let running = RunningProcesses(LoopScheduler(loop, LoopTasks(loop)), try FingerprintReader(on: loop))
    processes = Processes(
      try SpawnLauncher(on: loop, socket: Self.socket, trees: trees(loop), for: running), running)
  }

  func printed(_ line: String, by key: ProcessKey) {
    lines[key, default: []].append(line)
    onLine(key, line)
  }

  func ended(_ key: ProcessKey, _ end: TaskEnd) {
    #expect(ends[key] == nil, "a task ends once")
    ends[key] = end
    onEnd(key)
    postpone()
    awaited -= 1
    if awaited == 0 { loop.exit(0) }
  }

  private func postpone() { bound?.arm(at: EventLoop.bootMicroseconds() + 30_000_000, accuracy: 1) }

  /// Starts the tasks, and runs the loop until all have ended.
  func play(_ launches: [TaskLaunch]) throws {
    awaited = launches.count
    bound = try loop.timer { [loop] in loop.exit(1) }
    for launch in launches { processes.start(launch, for: self) }
    postpone()
    #expect(ends.isEmpty, "nothing is called back from inside start")
    let code = try loop.run()
    bound = nil
    try #require(code == 0, "a task ends at least every 30 s")
  }

  /// The process ids that a task has printed.
  func processes(of key: ProcessKey) -> [pid_t] { (lines[key] ?? []).compactMap { pid_t($0) } }

  /// Runs a task, and returns its end and its lines.
  static func play(_ launch: TaskLaunch) throws -> (end: TaskEnd, lines: [String]) {
    let stage = try Stage()
    try stage.play([launch])
    return (try #require(stage.ends[launch.key]), stage.lines[launch.key] ?? [])
  }
}

/// A task with these arguments, by default as the user that runs the tests.
func launch(
  _ arguments: [String], task: Int = 0, directory: String? = "/", group: UInt32? = nil, owner: Owner? = nil,
  environment: [String] = [], input: [UInt8]? = nil, changedPath: String? = nil
) throws -> TaskLaunch {
  let run = RunID(start: 7, number: 3)
  let marks = ["REFRESH_ID=\(run)", "REFRESH_SOCKET=\(Stage.socket)", "REFRESH_TOKEN=\(task)"]
  return TaskLaunch(
    key: ProcessKey(run: run, task: task), app: try #require(AppID("org.example.stage")),
    command: Command(arguments: arguments, directory: directory, group: group),
    owner: owner ?? Owner(uid: geteuid(), gid: getegid(), name: "tester", home: "/"),
    environment: ["PATH=/usr/bin:/bin"] + marks + environment, description: "a test", timeLimit: .seconds(30),
    grace: .seconds(5), input: input, changedPath: changedPath)
}

/// A task that runs a shell script.
func shell(
  _ script: String, task: Int = 0, input: [UInt8]? = nil, changedPath: String? = nil
) throws -> TaskLaunch {
  try launch(["/bin/sh", "-c", script], task: task, input: input, changedPath: changedPath)
}

/// Whether a process with this id exists, running or not yet reaped.
func exists(_ process: pid_t) -> Bool { kill(process, 0) == 0 || errno == EPERM }
