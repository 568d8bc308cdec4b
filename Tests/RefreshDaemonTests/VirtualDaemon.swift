import Foundation
import RefreshConfig
import RefreshEngine
import RefreshStore
import Systemd
import Testing

@testable import RefreshDaemon

/// A real daemon with virtual time: its store, launcher and machine are in memory and do what the test says.
final class VirtualDaemon {
  let scheduler = VirtualScheduler()
  let store = MemoryStore()
  let launcher = MemoryLauncher()
  let daemon: Daemon

  /// Opens a daemon with these app files, by id.
  init(apps: [String: String]) throws {
    let directory = try ScratchDirectory()
    try directory.write("refreshd.toml", "")
    for (id, text) in apps { try directory.write("apps.d/\(id).toml", text) }
    let settings = try DaemonSettings(
      arguments: ["refreshd", "--config", directory.path, "--state", directory.path, "--socket", "/nowhere/socket"],
      environment: [])
    let configuration = try Configuration.load(from: settings.sources, as: settings.reader)
    let moment = scheduler.now()
    let clock = BootClock(bootID: "boot", now: moment.instant, wallOffset: moment.wallOffset)
    let loaded = try RefreshStore.open(
      at: "\(directory.path)/store.sqlite", clock: clock, executor: ThreadExecutor(name: "store")
    ).loaded
    let ports = Ports(
      scheduler: scheduler, store: store, launcher: launcher,
      choice: ChosenLauncher.Choice(asked: .spawn, name: "memory", reason: "a test"), conditions: CalmMachine(),
      zone: { SimulatedZone(offset: 0) }, files: NoFiles(),
      diskSpace: { { needs, _, answer in answer(needs.keys.sorted()) } },
      forecast: { _, _ in }, reactor: nil, journal: DaemonJournal { _ in }, notify: { _, _ in }, trimMemory: {},
      access: Access(uid: 0, group: nil, bridge: nil))
    daemon = Daemon(settings, ports, loaded, at: moment)
    try daemon.open(loaded, configuration)
    scheduler.run(for: .zero)
  }

  /// Sends a signal of an app, as its call does.
  func send(_ signal: Signal, of app: AppID) {
    daemon.audience.changePhase(of: app) { daemon.handle(.signalled(app, signal)) }
    scheduler.run(for: .zero)
  }
}

/// A store in memory that answers when the test says so.
final class MemoryStore: DaemonStore {
  /// Whether every save is answered at once.
  var isPrompt = true
  /// The error that saves are answered with.
  var problem: StoreError?
  private(set) var saved: [Batch] = []
  private(set) var closed = false
  private var waiting: [() -> Void] = []

  func save(_ batch: Batch, durably: Bool, then answer: @escaping Answer<Set<PushID>>) {
    waiting.append {
      if let problem = self.problem { return answer(.failure(problem)) }
      self.saved.append(batch)
      answer(.success([]))
    }
    if isPrompt { finish() }
  }

  /// Answers the saves that wait.
  func finish() {
    let answers = waiting
    waiting = []
    for answer in answers { answer() }
  }

  func past(of app: AppID, limit: Int, then answer: @escaping Answer<AppPast>) {
    answer(.success(AppPast(refreshes: [], waits: [], dropped: [])))
  }

  func openings(of app: AppID, then answer: @escaping Answer<[Int64]>) { answer(.success([])) }

  func lastRefreshes(then answer: @escaping Answer<[AppID: StoredRefresh]>) { answer(.success([:])) }

  func close(then answer: @escaping () -> Void) {
    closed = true
    answer()
  }
}

/// A launcher that starts nothing; the test ends the tasks.
final class MemoryLauncher: Launcher {
  var onOutput: (TaskKey, String) -> Void = { _, _ in }
  var onEnd: (TaskKey, TaskEnd) -> Void = { _, _ in }
  let problem: String? = nil
  private(set) var started: [TaskKey] = []
  private(set) var terminated: [TaskKey] = []
  private(set) var released: [RefreshID] = []

  func start(_ launch: TaskLaunch) { started.append(launch.key) }
  func warn(_ key: TaskKey) {}
  func terminate(_ key: TaskKey) { terminated.append(key) }
  func kill(_ key: TaskKey) {}
  func forgetUsers() {}
  func forget(_ apps: Set<AppID>) {}
  func adopt(_ left: [LeftTask], stored: [PassedDescriptor]) -> [TaskKey: FoundTask] { [:] }
  func clean(leftFrom refreshes: Set<RefreshID>) {}
  func keep(_ completion: TaskCompletion, of key: TaskKey) {}
  func release(_ refresh: RefreshID) { released.append(refresh) }
  func findSurvivors(answer: @escaping (Set<RefreshID>) -> Void) { answer([]) }
}

/// A machine whose conditions nobody knows, and that never sleeps.
private final class CalmMachine: MachineConditions {
  var onChange: (Observation) -> Void = { _ in }
  var onSleep: (Bool) -> Void = { _ in }
  var onSessions: (Set<UInt32>) -> Void = { _ in }
  let timeToSleep: Int64 = 0

  func start(needs: ConditionNeeds) {}
  func holdSleep(_ isHeld: Bool) {}
  func askLingering(of user: UInt32, answer: @escaping (Bool) -> Void) { answer(false) }
}

private final class NoFiles: ConfigurationFiles {
  let directories: [String] = []

  func read(then answer: @escaping (Result<Configuration, ConfigurationError>) -> Void) {}
  func problems(then answer: @escaping ([Problem]) -> Void) { answer([]) }
}

/// A directory that is removed with its last reference.
final class ScratchDirectory {
  let path = NSTemporaryDirectory() + "refreshd-virtual-" + UUID().uuidString

  init() throws {
    try FileManager.default.createDirectory(atPath: "\(path)/apps.d", withIntermediateDirectories: true)
  }

  deinit {
    do { try FileManager.default.removeItem(atPath: path) } catch { print("cannot remove \(path): \(error)") }
  }

  func write(_ name: String, _ text: String) throws {
    try Data(text.utf8).write(to: URL(filePath: "\(path)/\(name)"))
  }
}
