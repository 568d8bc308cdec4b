import Glibc
import RefreshConfig
import RefreshEngine
import Systemd

/// Starts tasks as transient services of a service manager, which outlive the daemon.
///
/// Each task is a unit in the slice of its app. Its processes are one cgroup, and the manager handles its limits and
/// accounting. The unit stays after the task has ended (`RemainAfterExit=yes`) until the daemon has saved the end. So a
/// restarted daemon finds the unit by its name and asks how it ended.
///
/// The launcher holds a reference to each of its units (`RefUnit`), so the manager sends their changes. A unit is started on
/// a connection of its own, and may end before it is referenced, so its state is read once then. The launcher subscribes
/// only while it has units, so that changes of other units never wake an idle daemon.
final class SystemdLauncher: Launcher {
  unowned let owner: any ProcessOwner
  let loop: EventLoop
  let bus: Bus
  /// The calls that start units and pass their streams; nil where the bus, a user's own, takes descriptors.
  let starts: DescriptorCalls?
  let setup: Setup
  let meters = OutputMeters()
  var tasks: [ProcessKey: SystemdTask] = [:]
  /// The tasks by the object paths of their units.
  var paths: [String: ProcessKey] = [:]
  /// The subscription to changes, while there are tasks.
  private var changes: BusListener?
  private var restarts: BusListener?
  private var watch: BusWatch?
  private var hasBeenConnected = false
  /// Why no service manager answered the last question.
  var absence: String?
  let calls = CallQueue()
  private var weights = SliceWeights()
  /// The units without a known task, by their object paths, until they have ended.
  var unknownUnits: [String: String] = [:]
  /// The names of the units at the daemon's start; nil if the manager did not answer, and after the start.
  var leftUnits: [String]?
  /// The call that lists the units after the bus was away.
  var listing: BusCall?
  /// The call that asks whether the machine shuts down.
  var stopping: BusCall?
  /// The question why the daemon stops.
  private var occasion: StopQuestion?
  /// The units that earlier keepers kept, until the manager has said whether they are still stopped or frozen.
  private var leftUnitObjects: [BusObject] = []

  /// The service manager, names and folders of a launcher.
  struct Setup {
    /// The bus of the manager.
    let bus: BusAddress
    /// Whether the manager belongs to one user, and so can start commands only as that user.
    let isUserManager: Bool
    let units: UnitNames
    /// The daemon's directory for the files of tasks.
    let files: String
    /// The directory of the manager's cgroup.
    let cgroup: String
  }

  /// Makes the launcher; before the loop turns, only ``adopt(_:stored:)`` calls the manager.
  ///
  /// `absence` says why the manager did not answer before. `owner` receives what the tasks print, and their ends.
  init(on loop: EventLoop, with setup: Setup, absence: String? = nil, for owner: any ProcessOwner) throws {
    (self.loop, self.owner) = (loop, owner)
    self.absence = absence
    self.setup = setup
    bus = try Bus(setup.bus, on: loop, takesDescriptors: setup.isUserManager)
    starts = setup.isUserManager ? nil : try DescriptorCalls(setup.bus, on: loop)
    restarts = bus.listen(to: .ownerChanged(of: ServiceManager.name)) { [unowned self] values in
      // A manager that has re-executed itself does not report the changes since.
      if values.count == 3, values[2].text?.isEmpty == false { listUnits() }
    }
    watch = bus.watch { [unowned self] state in
      guard state == .connected else { return noteLoss() }
      hasBeenConnected = true
      listUnits()
    }
  }

  // MARK: Launcher

  var problem: String? {
    // Right after the start, the first connection is still being made, which is no problem.
    let reason: String? =
      switch bus.state {
      case .connected: absence
      case .connecting where !hasBeenConnected: absence
      case .connecting, .absent: bus.reason
      }
    return reason.map { "systemd cannot be reached at present: \($0)" }
  }

  var cgroups: [String] { tasks.values.filter { !$0.isReported }.map(cgroup) }

  func processes(of key: ProcessKey) -> [Int32] { tasks[key].map { Cgroup.processes(in: cgroup(of: $0)) } ?? [] }

  /// The directory of a task's cgroup.
  func cgroup(of task: SystemdTask) -> String {
    "\(setup.cgroup)/\(setup.units.cgroup(of: task.key, app: task.app))"
  }

  func start(_ launch: TaskLaunch, before: Fingerprint?) {
    let task = SystemdTask(launch, before: before, units: setup.units, files: setup.files)
    add(task)
    run(task)
  }

  func warn(_ key: ProcessKey) {
    guard let task = tasks[key], case .running = task.state else { return }
    bus.send(ServiceManager.kill(task.unit, .main, SIGURG))
  }

  func terminate(_ key: ProcessKey) { end(key, by: SIGTERM) }

  func kill(_ key: ProcessKey) { end(key, by: SIGKILL) }

  func forget(_ apps: Set<AppID>) {
    // Stopping the slice would also stop tasks that still run.
    for app in apps.subtracting(tasks.values.map(\.app)).sorted() {
      bus.send(ServiceManager.stop(UnitNames.slice(of: app)))
    }
  }

  func keep(_ completion: TaskCompletion, of key: ProcessKey) {
    guard let task = tasks[key] else { return }
    do throws(SystemCallError) {
      try task.file.note(completion)
    } catch {
      // Only a later daemon would have needed the note.
      return
    }
  }

  func release(_ run: RunID) {
    for task in tasks.values.filter({ $0.key.run == run }) {
      task.isReleased = true
      discardIfReleased(task)
    }
  }

  /// Discards a released task at its end: its refresh may end before, if an attached process took it over.
  func discardIfReleased(_ task: SystemdTask) {
    guard task.isReleased, task.isReported else { return }
    task.file.remove()
    Notify.unstore(task.outputName)
    advance(task)
  }

  func findSurvivors(answer: @escaping (Set<RunID>) -> Void) {
    stopping = bus.call(ServiceManager.get("SystemState")) { [unowned self] state in
      stopping = nil
      // If the call fails, the machine is not shutting down: the daemon stops before the bus does.
      if case .success(let values) = state, values.first?.text == "stopping" { return answer([]) }
      // A unit that is still being started may not exist, and only this daemon knows why it sent a signal to a task.
      let unsure = tasks.values.filter { !$0.isFindable || $0.sentSignal != nil }.map(\.key.run)
      answer(Set(tasks.keys.map(\.run)).subtracting(unsure))
    }
  }

  func findOccasion(answer: @escaping (StopOccasion) -> Void) { occasion = StopQuestion(bus, answer: answer) }

  func findLeft(_ unit: GuardedUnit, answer: @escaping (Bool?) -> Void) {
    guard (unit.user != nil) == setup.isUserManager,
      let path = BusPath.encoded(unit.name, below: ServiceManager.unitPath),
      // At the daemon's start the bus is still being connected, for which such an object waits.
      let object = try? BusObject(
        ServiceManager.name, called: "the service manager", path: path, interface: ServiceManager.unit,
        wanted: ["ActiveState", "FreezerState"], on: bus),
      object.state == .asked
    else { return answer(nil) }
    leftUnitObjects.append(object)
    object.onChange = { [unowned self, unowned object] in
      let state = object.state
      leftUnitObjects.removeAll { $0 === object }
      guard case .known(let properties) = state else { return answer(nil) }
      switch unit.means {
      case .stop: answer(["inactive", "failed", "deactivating"].contains(properties["ActiveState"]?.text))
      case .freeze: answer(["frozen", "freezing"].contains(properties["FreezerState"]?.text))
      }
    }
  }

  // MARK: Tasks

  func add(_ task: SystemdTask) {
    tasks[task.key] = task
    paths[task.path] = task.key
    listenIfNeeded()
  }

  /// Subscribes to changes of units while there are any.
  func listenIfNeeded() {
    guard !tasks.isEmpty || !unknownUnits.isEmpty else { return changes = nil }
    guard changes == nil else { return }
    changes = bus.listen(
      toObjectsOf: .propertiesChanged(below: ServiceManager.unitPath, in: ServiceManager.name)
    ) { [unowned self] path, values in
      guard values.count == 3, let news = values[1].entries else { return }
      if unknownUnits[path] != nil { return updateUnknown(at: path, news) }
      guard let key = paths[path], let task = tasks[key] else { return }
      task.known.apply(news)
      // systemd sends the properties of the service first and of the unit last, so now all have arrived.
      if values[0].text == ServiceManager.unit { advance(task) }
    }
  }

  /// Gives the slices the weights that the tasks need.
  func weigh() {
    for call in weights.update(tasks.values, isUserManager: setup.isUserManager) { bus.send(call) }
  }

  /// Asks the manager about a task when the call's turn comes; `apply` is called unless another call replaces this one.
  func ask(
    _ method: BusMethod, about task: SystemdTask, timeout: Int64 = Bus.patience,
    then apply: @escaping (SystemdLauncher, SystemdTask, BusCall.Answer) -> Void
  ) {
    task.call = calls.add { [bus] in
      bus.call(method, timeout: timeout, handler: $0)
    } answer: { [unowned self, unowned task] in
      apply(self, task, $0)
    }
  }

  /// Makes the manager forget a unit that has ended.
  func discard(_ task: SystemdTask) {
    tasks[task.key] = nil
    paths[task.path] = nil
    listenIfNeeded()
    bus.send(
      task.known.activeState == "failed" ? ServiceManager.resetFailed(task.unit) : ServiceManager.stop(task.unit))
    bus.send(ServiceManager.unref(task.unit))
  }
}

extension Bus {
  /// The reason why the manager cannot be called, in words that follow a colon.
  var reason: String {
    switch state {
    case .absent(let reason): reason
    case .connecting: "the \(address.name) does not answer yet"
    case .connected: "it has not answered yet"
    }
  }
}

/// A task in a unit of its own, from its start or adoption to its release.
///
/// ```
/// awaitingBus <-> starting -> running -> clearing -> counting -> reported
/// running <- (adopted by the next daemon)
/// awaitingBus, starting -> (could not start) -> reported
/// ```
final class SystemdTask {
  enum State {
    /// The task waits for the service manager and for its turn, unless its unit turns out to exist.
    case awaitingBus
    /// The service manager was called to start the unit.
    case starting
    /// The unit exists.
    case running
    /// The main process has ended; the remaining processes are being killed.
    case clearing(CgroupWatch?)
    /// No process is left; the accounting of the unit is being read.
    case counting
    /// The end was reported; the unit stays until it is released.
    case reported
  }

  let key: ProcessKey
  let app: AppID
  /// The name of the unit.
  let unit: String
  /// The object path of the unit on the bus.
  let path: String
  let file: TaskFile
  /// The name of the program in sentences.
  let program: String
  let directory: String
  let user: String
  /// The parameters of the start; nil for an adopted task.
  let launch: TaskLaunch?
  /// The fingerprint of the watched path before the start, for the next daemon.
  let before: Fingerprint?

  var state = State.awaitingBus
  var known = UnitState()
  /// The strongest signal that was sent to end the task; sent again if the bus was away.
  var sentSignal: Int32?
  /// The current call to the service manager; there is at most one.
  var call: CallQueue.QueuedCall?
  /// Whether the manager holds our reference to the unit on the current connection.
  var isReferenced = false
  /// Whether the task printed something that a previous daemon read.
  var hadPrinted = false
  var output: TaskOutput?
  /// The processor time and network bytes, as far as the manager has answered.
  var processorTime: Duration = .zero
  var bytes: Int64?
  /// Whether the unit is forgotten as soon as the manager is done with it.
  var isReleased = false

  /// A task that a previous daemon left, unless there is a launch.
  init(_ task: LeftTask, launch: TaskLaunch? = nil, before: Fingerprint? = nil, units: UnitNames, files: String) {
    key = task.key
    app = task.app
    unit = units.unit(of: task.key)
    path = BusPath.encoded(unit, below: ServiceManager.unitPath) ?? ServiceManager.unitPath
    file = TaskFile(of: unit, in: files)
    program = task.command.arguments.first ?? "an empty command"
    directory = task.command.directory ?? task.owner.home
    user = task.owner.name
    (self.launch, self.before) = (launch, before)
  }

  /// A task to start.
  convenience init(_ launch: TaskLaunch, before: Fingerprint?, units: UnitNames, files: String) {
    let task = LeftTask(
      key: launch.key, app: launch.app, command: launch.command, owner: launch.owner, changedPath: launch.changedPath)
    self.init(task, launch: launch, before: before, units: units, files: files)
  }

  /// Whether the service manager has not answered the current call yet.
  var awaitsReply: Bool { call.map { !$0.isAnswered } ?? false }

  /// Whether the end was reported.
  var isReported: Bool { if case .reported = state { true } else { false } }

  /// Whether the unit certainly exists.
  var isFindable: Bool {
    switch state {
    case .awaitingBus, .starting: false
    case .running, .clearing, .counting, .reported: true
    }
  }

  /// The properties of the unit with its accounting.
  static let counters = ["CPUUsageNSec", "IPIngressBytes", "IPEgressBytes"]

  /// Applies the value of a counter; a counter that is off reads as the largest number.
  func apply(_ value: BusValue, of counter: String) {
    guard let number = value.integer.map(Int64.init) else { return }
    if counter == "CPUUsageNSec" { processorTime = .nanoseconds(number) } else { bytes = (bytes ?? 0) &+ number }
  }

  /// Records that the task has printed something, also for the next daemon.
  func notePrinted() {
    guard !hadPrinted else { return }
    hadPrinted = true
    do throws(SystemCallError) {
      try file.notePrinted()
    } catch {
      // Only a later daemon would have needed the note.
      return
    }
  }

  /// The name under which the service manager keeps the reading end of the output.
  var outputName: String { "task-\(key)" }

  /// The reason why the program did not run; nil unless the status is one of the manager's.
  func sentence(forStatus status: Int32) -> String? {
    guard ExecFailure.statuses.contains(status) else { return nil }
    let failure = ExecFailure(
      program: program, directory: directory, user: user, isStrict: launch?.sandbox.level == .strict)
    return failure.sentence(forStatus: status)
  }
}
