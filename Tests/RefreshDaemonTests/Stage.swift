import Glibc
import RefreshConfig
import RefreshEngine
import Systemd
import Testing

@testable import RefreshDaemon

/// A launcher with real processes on a real loop, and a record of its calls.
final class Stage {
  /// Unique to this test process, so that other test processes do not kill its tasks.
  static let socket = "/run/refreshd/stage-\(getpid())"

  let loop: EventLoop
  let launcher: SpawnLauncher
  private(set) var ends: [TaskKey: TaskEnd] = [:]
  private(set) var lines: [TaskKey: [String]] = [:]
  /// Called for each line, after it was added to ``lines``.
  var onLine: (TaskKey, String) -> Void = { _, _ in }
  /// Called for each end, after it was added to ``ends``.
  var onEnd: (TaskKey) -> Void = { _ in }
  private var awaited = 0
  /// Goes off when no task has ended for a long time: many tasks take as long as a busy machine lets them.
  private var bound: TimerSource?

  init(trees: (EventLoop) throws -> any ProcessTrees = { try SubreaperTrees(on: $0, socket: Stage.socket) }) throws {
    loop = try EventLoop()
    launcher = try SpawnLauncher(on: loop, socket: Self.socket, trees: trees(loop))
    launcher.onOutput = { [unowned self] key, line in
      lines[key, default: []].append(line)
      onLine(key, line)
    }
    launcher.onEnd = { [unowned self] key, end in
      #expect(ends[key] == nil, "a task ends once")
      ends[key] = end
      onEnd(key)
      postpone()
      awaited -= 1
      if awaited == 0 { loop.exit(0) }
    }
  }

  private func postpone() { bound?.arm(at: EventLoop.bootMicroseconds() + 30_000_000, accuracy: 1) }

  /// Starts the tasks, and runs the loop until all have ended.
  func play(_ launches: [TaskLaunch]) throws {
    awaited = launches.count
    bound = try loop.timer { [loop] in loop.exit(1) }
    for launch in launches { launcher.start(launch) }
    postpone()
    #expect(ends.isEmpty, "nothing is called back from inside start")
    let code = try loop.run()
    bound = nil
    try #require(code == 0, "a task ends at least every 30 s")
  }

  /// The process ids that a task has printed.
  func processes(of key: TaskKey) -> [pid_t] { (lines[key] ?? []).compactMap { pid_t($0) } }

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
  let refresh = RefreshID(start: 7, number: 3)
  let marks = ["REFRESH_ID=\(refresh)", "REFRESH_SOCKET=\(Stage.socket)", "REFRESH_TOKEN=\(task)"]
  return TaskLaunch(
    key: TaskKey(refresh: refresh, task: task), app: try #require(AppID("org.example.stage")),
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
