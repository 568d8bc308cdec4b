import Glibc
import RefreshEngine
import Systemd

/// Starts tasks as transient services of a service manager, which outlive the daemon (FEATURES B5).
///
/// Each is a unit of its own in the slice of its app, so that its processes are one cgroup, and its limits, accounting and
/// end are the manager's business. The unit stays when the task has ended (`RemainAfterExit=yes`) until the daemon has
/// saved how: a daemon that was away finds it by its name and asks it.
///
/// The manager tells of the units that somebody holds a reference to, as we do of ours (`AddRef`), and we listen only while
/// there are any: other units' changes never wake an idle daemon, and make no work for the manager.
final class SystemdLauncher: Launcher {
  var onOutput: (TaskKey, String) -> Void = { _, _ in }
  var onEnd: (TaskKey, TaskEnd) -> Void = { _, _ in }

  let loop: EventLoop
  let bus: Bus
  let place: Place
  let fingerprints: FingerprintReader
  var tasks: [TaskKey: SystemdTask] = [:]
  /// The tasks by the objects of their units.
  var paths: [String: TaskKey] = [:]
  /// Hears of changes, while there are tasks.
  private var changes: BusListener?
  private var restarts: BusListener?
  private var watch: BusWatch?
  private var hasBeenConnected = false
  let calls = CallQueue()
  /// The units that nobody knows, by their objects, until they have ended.
  var strays: [String: String] = [:]
  /// The names of the units that were there at the start; nil when nobody could say, and once it is over.
  var leftUnits: [String]?
  /// The question what units there are, after the bus was away.
  var inventory: BusCall?
  /// The question whether the machine is being switched off.
  var stopping: BusCall?
  private var failing: [TaskKey] = []
  private var failures: TimerSource?

  /// Where a launcher does its work.
  struct Place {
    /// The bus of the manager.
    let bus: BusAddress
    /// Whether the manager is one user's own, who then is the only one that it can start commands as.
    let isUserManager: Bool
    /// How units are called.
    let units: UnitNames
    /// The directory for the files of tasks, the daemon's own.
    let files: String
    /// The directory of the manager's cgroup.
    let cgroup: String
  }

  /// Makes the launcher; nothing is asked of the manager before the loop turns, but by ``takeUp(_:stored:)``.
  init(on loop: EventLoop, at place: Place) throws {
    self.loop = loop
    self.place = place
    bus = try Bus(place.bus, on: loop)
    fingerprints = try FingerprintReader(on: loop)
    failures = try loop.timer { [unowned self] in reportFailures() }
    restarts = bus.listen(to: .ownerChanged(of: ServiceManager.name)) { [unowned self] values in
      // A manager that executes itself anew tells nothing of what happened meanwhile.
      if values.count == 3, values[2].text?.isEmpty == false { takeInventory() }
    }
    watch = bus.watch { [unowned self] state in
      guard state == .connected else { return noteLoss() }
      hasBeenConnected = true
      takeInventory()
    }
  }

  // MARK: Launcher

  var problem: String? {
    // A moment after the start the first connection is being made, and all is well.
    if bus.state == .connected || bus.state == .connecting && !hasBeenConnected { return nil }
    return "systemd cannot be asked at present: \(bus.reason)"
  }

  func start(_ launch: TaskLaunch) {
    let task = SystemdTask(launch, units: place.units, files: place.files)
    add(task)
    guard let path = launch.changedPath else { return run(task) }
    fingerprints.look(at: path) { [unowned self] print in
      guard case .looking = task.state else { return }
      task.before = print
      run(task)
    }
  }

  func warn(_ key: TaskKey) {
    guard let task = tasks[key], case .running = task.state else { return }
    bus.send(ServiceManager.kill(task.unit, .main, SIGURG))
  }

  func terminate(_ key: TaskKey) { end(key, by: SIGTERM) }

  func kill(_ key: TaskKey) { end(key, by: SIGKILL) }

  func forgetUsers() {}

  func forget(_ apps: Set<AppID>) {
    // What still runs would be stopped with its slice, and nobody would know why.
    for app in apps.subtracting(tasks.values.map(\.app)).sorted() {
      bus.send(ServiceManager.stop(UnitNames.slice(of: app)))
    }
  }

  func keep(_ completion: Completion, of key: TaskKey) {
    guard let task = tasks[key] else { return }
    do throws(SystemCallError) {
      try task.file.note(completion)
    } catch {
      // Only a daemon that comes after this one would have needed it.
      return
    }
  }

  func release(_ refresh: RefreshID) {
    for task in tasks.values.filter({ $0.key.refresh == refresh && $0.isTold }) {
      task.isReleased = true
      task.file.remove()
      Notify.letGo(of: task.outputName)
      look(at: task)
    }
  }

  func askWhatStays(answer: @escaping (Set<RefreshID>) -> Void) {
    stopping = bus.call(ServiceManager.get("SystemState")) { [unowned self] state in
      stopping = nil
      // Who cannot be asked is not switched off: the daemon stops before the bus does.
      if case .success(let values) = state, values.first?.text == "stopping" { return answer([]) }
      // Of one that is just being started it is not known whether it was; and why one ends that was asked to, this
      // daemon alone knows.
      let unsure = tasks.values.filter { !$0.isFindable || $0.asked != nil }.map(\.key.refresh)
      answer(Set(tasks.keys.map(\.refresh)).subtracting(unsure))
    }
  }

  // MARK: Tasks

  /// Takes up a task.
  func add(_ task: SystemdTask) {
    tasks[task.key] = task
    paths[task.path] = task.key
    listenIfNeeded()
  }

  /// Listens to what becomes of units while there are any.
  func listenIfNeeded() {
    guard !tasks.isEmpty || !strays.isEmpty else { return changes = nil }
    guard changes == nil else { return }
    changes = bus.listen(
      toObjectsOf: .propertiesChanged(below: ServiceManager.unitPath, in: ServiceManager.name)
    ) { [unowned self] path, values in
      guard values.count == 3, let news = values[1].entries else { return }
      if strays[path] != nil { return look(atStray: path, news) }
      guard let key = paths[path], let task = tasks[key] else { return }
      task.known.take(news)
      // What is the service's is told first, then what every unit has: with that, the news is whole.
      if values[0].text == ServiceManager.unit { look(at: task) }
    }
  }

  /// Has the manager forget a unit that it is done with.
  func discard(_ task: SystemdTask) {
    tasks[task.key] = nil
    paths[task.path] = nil
    listenIfNeeded()
    bus.send(
      task.known.activeState == "failed" ? ServiceManager.resetFailed(task.unit) : ServiceManager.stop(task.unit))
    bus.send(ServiceManager.unref(task.unit))
  }

  // MARK: End

  private func end(_ key: TaskKey, by signal: Int32) {
    guard let task = tasks[key] else { return }
    switch task.state {
    case .looking:
      fail(task, "cannot start \(task.program): it was stopped while its path was looked at")
    case .awaitingBus:
      fail(task, "cannot start \(task.program): the service manager could not be asked: \(bus.reason)")
    case .starting, .running:
      if task.asked != SIGKILL { task.asked = signal }
      send(signal, to: task)
    case .lookingAgain(let end) where signal == SIGKILL:
      // A disk that does not answer must not hold up the end.
      report(task, end)
    case .clearing, .counting, .lookingAgain, .failing, .told:
      break
    }
  }

  /// Sends a signal to all processes of a task, also to one that is yet to come to life.
  func send(_ signal: Int32, to task: SystemdTask) {
    bus.send(ServiceManager.kill(task.unit, .all, signal))
    // A process that is stopped hears of SIGTERM only when it goes on.
    if signal == SIGTERM { bus.send(ServiceManager.kill(task.unit, .all, SIGCONT)) }
    if !task.known.hasBeenActive { bus.send(ServiceManager.stop(task.unit)) }
  }

  /// Has the end of a task that cannot start reported, when the loop turns.
  func fail(_ task: SystemdTask, _ sentence: String) {
    task.state = .failing(sentence)
    task.call = nil
    failing.append(task.key)
    failures?.arm(at: 0, accuracy: 1)
  }

  private func reportFailures() {
    let keys = failing
    failing = []
    for key in keys {
      guard let task = tasks[key], case .failing(let sentence) = task.state else { continue }
      // Also as a message: when it is stopped for its deadline meanwhile, that is the cause, and this is why.
      report(task, TaskEnd(exit: .notStarted(sentence), message: sentence))
    }
  }

  /// Tells the end of a task; its unit stays.
  func report(_ task: SystemdTask, _ end: TaskEnd) {
    task.state = .told
    task.output = nil
    onEnd(task.key, end)
  }
}

extension Bus {
  /// Why nobody can be asked, in words that follow a colon.
  fileprivate var reason: String {
    switch state {
    case .absent(let reason): reason
    case .connecting: "the \(address.name) does not answer yet"
    case .connected: "it has not answered yet"
    }
  }
}
