import Foundation
import RefreshConfig
import RefreshEngine
import RefreshStore
import Systemd
import Testing
import Threads

@testable import RefreshDaemon

/// A real daemon with virtual time: its store, launcher and machine are in memory and do what the test says.
final class VirtualDaemon {
  let scheduler = VirtualScheduler()
  let store = MemoryStore()
  let launcher: MemoryLauncher
  let files: MemoryFiles
  let output = DaemonOutput()
  let machine = MemoryMachine()
  let space = MemorySpace()
  let daemon: Daemon
  /// The folder of the configuration.
  let directory: ScratchDirectory

  /// Opens a daemon with these app files, by id, and this `refreshd.toml`; of another user's apps if `user` says so.
  init(apps: [String: String], main: String = "", user: UInt32? = nil) throws {
    let directory = try ScratchDirectory()
    self.directory = directory
    try directory.write("refreshd.toml", main)
    for (id, text) in apps { try directory.write("apps.d/\(id).toml", text) }
    let settings = try DaemonSettings(
      arguments: ["refreshd", "--config", directory.path, "--state", directory.path, "--socket", "/nowhere/socket"],
      environment: [])
    files = MemoryFiles(settings)
    let reader = user.map { Reader(uid: $0) } ?? settings.reader
    let configuration = try Configuration.loadAtStart(from: settings.sources, as: reader)
    let moment = scheduler.now()
    let clock = BootClock(bootID: "boot", now: moment.instant, wallOffset: moment.wallOffset)
    let loaded = try RefreshStore.open(
      at: "\(directory.path)/store.sqlite", clock: clock, executor: ThreadExecutor(name: "store")
    ).loaded
    let running = RunningProcesses(scheduler, MemoryLooks())
    launcher = MemoryLauncher(running)
    let ports = Ports(
      settings: settings, scheduler: scheduler, store: store, processes: Processes(launcher, running),
      choice: ChosenLauncher.Choice(asked: .spawn, name: "memory", reason: "a test"),
      conditions: { [machine] in machine.report(to: $0) },
      zone: { _ in SimulatedZone(offset: 0) }, files: files,
      folders: nil,
      diskSpace: { [space] in { space.ask($0, $1, $2) } },
      forecast: { _, _ in }, reactor: nil, journal: DaemonJournal { [output] in output.add($0.message) },
      notify: { [output] _, line in output.line = line }, trimMemory: {},
      access: Access(uid: 0, group: nil, bridge: nil))
    daemon = Daemon(ports, loaded, at: moment)
    try daemon.open(loaded, configuration)
    scheduler.run(for: .zero)
  }

  /// Puts these app files in force, as a reload does.
  func reload(apps: [String: String]) throws {
    let directory = try ScratchDirectory()
    try directory.write("refreshd.toml", "")
    for (id, text) in apps { try directory.write("apps.d/\(id).toml", text) }
    let settings = try DaemonSettings(arguments: ["refreshd", "--config", directory.path], environment: [])
    files.next = try Configuration.load(from: settings.sources, as: settings.reader)
    daemon.reload { _ in }
  }

  /// Sends a signal of an app, as its call does.
  func send(_ signal: Signal, of app: AppID) {
    daemon.core.handle(.signalled(app, signal))
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
  /// How many saves were asked for.
  private(set) var attempts = 0
  /// Whether the last save was to survive a loss of power.
  private(set) var isLastDurable = false
  /// The last refreshes that the store has.
  var last: [AppID: StoredRefresh] = [:]
  private(set) var closed = false
  private var waiting: [() -> Void] = []
  /// Whether reads are answered.
  var isReadable = true
  /// The pushes that a save leaves out.
  var known: Set<PushID> = []

  func save(_ batch: Batch, durably: Bool, then answer: @escaping StoreAnswer<Set<PushID>>) {
    isLastDurable = durably
    attempts += 1
    waiting.append {
      if let problem = self.problem { return answer(.failure(problem)) }
      self.saved.append(batch)
      answer(.success(self.known))
    }
    if isPrompt { finish() }
  }

  /// Answers the saves that wait.
  func finish() {
    let answers = waiting
    waiting = []
    for answer in answers { answer() }
  }

  func past(of app: AppID, limit: Int, then answer: @escaping StoreAnswer<AppPast>) {
    if isReadable, isPrompt { answer(.success(AppPast(refreshes: [], waits: [], dropped: []))) }
  }

  func openings(of app: AppID, then answer: @escaping StoreAnswer<[StoredOpening]>) { answer(.success([])) }

  func lastRefreshes(then answer: @escaping StoreAnswer<[AppID: StoredRefresh]>) { answer(.success(last)) }

  /// Whether the store closes.
  var isCloseable = true

  func close(then answer: @escaping () -> Void) {
    closed = true
    if isCloseable { answer() }
  }
}

/// A launcher that starts nothing; the test ends the tasks.
final class MemoryLauncher: Launcher {
  private unowned let owner: any ProcessOwner
  var problem: String?
  private(set) var started: [ProcessKey] = []
  private(set) var warned: [ProcessKey] = []
  private(set) var terminated: [ProcessKey] = []
  private(set) var killed: [ProcessKey] = []
  private(set) var released: [RunID] = []

  private(set) var launches: [TaskLaunch] = []
  /// The tasks of an earlier daemon, with the fingerprints of their paths.
  var left: [ProcessKey: Fingerprint?] = [:]
  /// The runs that may survive the daemon.
  var survivors: Set<RunID> = []

  init(_ owner: any ProcessOwner) { self.owner = owner }

  func start(_ launch: TaskLaunch, before: Fingerprint?) {
    started.append(launch.key)
    launches.append(launch)
  }

  /// Has a task print a line.
  func print(_ line: String, by key: ProcessKey) { owner.printed(line, by: key) }

  /// Ends a task.
  func end(_ key: ProcessKey, _ end: TaskEnd) { owner.ended(key, end) }

  func warn(_ key: ProcessKey) { warned.append(key) }
  func terminate(_ key: ProcessKey) { terminated.append(key) }
  func kill(_ key: ProcessKey) { killed.append(key) }
  func processes(of key: ProcessKey) -> [Int32] { [4711] }
  func forget(_ apps: Set<AppID>) {}
  func adopt(_ left: [LeftTask], stored: [PassedDescriptor]) -> [ProcessKey: FoundTask] {
    self.left.mapValues { FoundTask(token: nil, completion: nil, before: $0) }
  }
  func clean(leftFrom runs: Set<RunID>) {}
  func keep(_ completion: TaskCompletion, of key: ProcessKey) {}
  func release(_ run: RunID) { released.append(run) }
  /// Whether it knows what may be left running.
  var findsSurvivors = true
  func findSurvivors(answer: @escaping (Set<RunID>) -> Void) { if findsSurvivors { answer(survivors) } }
}

/// Looks at paths that the test answers.
final class MemoryLooks: PathLooks {
  let overdue: [String] = []
  private(set) var waiting: [(PathLook) -> Void] = []

  func look(at path: String, as owner: Owner, within bound: Duration, receive: @escaping (PathLook) -> Void) {
    waiting.append(receive)
  }

  /// Answers the oldest look.
  func answer(_ look: PathLook) { if !waiting.isEmpty { waiting.removeFirst()(look) } }
}

extension Processes {
  /// Processes that nothing starts.
  static func inMemory() -> Processes {
    let running = RunningProcesses(VirtualScheduler(), MemoryLooks())
    return Processes(MemoryLauncher(running), running)
  }
}

/// Disks with room, except those that do not answer.
final class MemorySpace {
  /// The prefix of the paths whose disks do not answer.
  var silent: String?
  private(set) var asked: [String] = []
  private var unanswered: [() -> Void] = []

  func ask(_ needs: [TransferID: Int64], _ folder: String, _ answer: @escaping ([TransferID]) -> Void) {
    asked.append(folder)
    let tell = { answer(needs.keys.sorted()) }
    if let silent, folder.hasPrefix(silent) { unanswered.append(tell) } else { tell() }
  }

  /// Answers all pending questions.
  func speak() {
    let answers = unanswered
    (silent, unanswered) = (nil, [])
    for answer in answers { answer() }
  }
}

/// A machine that never sleeps, with conditions that are unknown unless the test sets them.
final class MemoryMachine: MachineConditions {
  private weak var observer: (any MachineObserver)?
  let timeToSleep: Int64 = 0

  /// Reports to the daemon from now on.
  func report(to observer: any MachineObserver) -> MemoryMachine {
    self.observer = observer
    return self
  }

  func onChange(_ observation: Observation) { observer?.observed(observation) }
  func onSessions(_ users: Set<UInt32>) { observer?.sessionsChanged(users) }

  /// Called when the daemon asks for conditions.
  var onStart: (ConditionNeeds) -> Void = { _ in }

  func start(needs: ConditionNeeds, facts: Set<NamedFact>) { onStart(needs) }
  func delaySleep(_ isDelayed: Bool) {}
  /// The questions whether a user lingers, which the test answers.
  var lingering: [(Bool) -> Void] = []

  func askLingering(of user: UInt32, answer: @escaping (Bool) -> Void) { lingering.append(answer) }
}

/// The journal and the status line of a daemon.
final class DaemonOutput: @unchecked Sendable {
  // @unchecked: a test has one thread.
  private(set) var journal: [String] = []
  var line = ""

  func add(_ text: String) { journal.append(text) }
}

/// The configuration of the test, or else of the disk, read at once.
final class MemoryFiles: ConfigurationFiles {
  let directories: [String] = []
  var next: Configuration?
  private let settings: DaemonSettings

  init(_ settings: DaemonSettings) { self.settings = settings }

  /// Whether questions are answered.
  var isAnswering = true
  private(set) var givenUp = 0

  func read(then answer: @escaping (Result<Configuration, ConfigurationError>) -> Void) {
    guard isAnswering else { return }
    if let next { return answer(.success(next)) }
    answer(Result { () throws(ConfigurationError) in try .loadAtStart(from: settings.sources, as: settings.reader) })
  }

  func problems(then answer: @escaping ([Problem]) -> Void) { if isAnswering { answer([]) } }

  func giveUp() { givenUp += 1 }
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
