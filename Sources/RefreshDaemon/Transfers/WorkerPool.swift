import RefreshAPI
import RefreshConfig
import RefreshEngine
import Systemd
import Varlink

/// The worker processes that move files: one for each app that has transfers to move.
///
/// A worker is started for its first order, kept for a moment after its last, and ended if it stays silent.
final class WorkerPool {
  /// How long a worker may take to ask for work, boot clock.
  private static let startBound = Duration.seconds(30)
  /// How long a worker without work is kept for later transfers.
  private static let linger = Duration.milliseconds(1500)
  /// How long a worker may take to end by itself, and after SIGTERM.
  private static let endBound = Duration.seconds(5)
  /// How long a worker may take to stop a transfer: a disk may have much to write.
  private static let stopBound = Duration.seconds(15)

  private unowned let core: DaemonCore
  private let ports: Ports
  private let environment: TaskEnvironment
  private var workers = TransferWorkers()
  /// Whether all of a POST may have been sent, so that the worker waits for its answer; set once.
  var awaitsAnswer: (TransferID) -> Bool = { _ in false }
  /// Called with the transfers of a worker that has ended, and what went wrong with it; set once.
  var onLost: ([TransferID], String?) -> Void = { _, _ in }

  init(_ core: DaemonCore, _ ports: Ports, _ environment: TaskEnvironment) {
    (self.core, self.ports, self.environment) = (core, ports, environment)
  }

  var isEmpty: Bool { workers.isEmpty }

  /// The worker that was started with a token.
  func worker(of token: String) -> TransferWorkers.Worker? { workers.worker(of: token) }

  // MARK: - Orders

  /// Gives the app's worker an order, and starts one if there is none; false if none can be started.
  func order(_ order: Wire.Order, of id: TransferID, _ app: AppConfiguration) -> Bool {
    guard let key = workers.open(of: app.id)?.key ?? start(for: app) else { return false }
    workers[key]?.orders.append(order)
    workers[key]?.given.insert(id)
    if let worker = workers[key], worker.stage == .working, worker.stopping.isEmpty { arm(key) }
    return true
  }

  /// Gives the worker that has a transfer the order to stop it; false if no worker has it.
  func stop(_ id: TransferID, _ order: Wire.Order) -> Bool {
    guard let holder = workers.holder(of: id) else { return false }
    workers[holder.key]?.orders.append(order)
    boundStop(of: id)
    return true
  }

  /// Bounds how long the worker that has a transfer may take to stop it.
  func boundStop(of id: TransferID) {
    guard let worker = workers.holder(of: id) else { return }
    workers[worker.key]?.stopping.insert(id)
    if worker.stage == .working, worker.stopping.isEmpty || awaitsAnswer(id) { arm(worker.key) }
  }

  /// Sends workers the orders of this turn of the loop.
  func sendOrders() {
    // First, because it changes the share of the others.
    for worker in workers.all.values where core.engine.isStopping && worker.given.isEmpty && worker.stage == .working {
      finish(worker.key)
    }
    shareBandwidth()
    for worker in workers.all.values {
      guard !worker.orders.isEmpty, let call = worker.call else { continue }
      workers[worker.key]?.orders = []
      call.reply(WorkerInterface.Work.Reply(orders: worker.orders), continues: true)
    }
  }

  /// Shares the bandwidth of all transfers evenly among the workers that have work, if it is limited.
  private func shareBandwidth() {
    let busy = workers.all.values.filter { $0.isOpen && !$0.given.isEmpty }
    let share = core.configuration.transfers.bandwidth.map { max(1, $0 / Int64(max(1, busy.count))) }
    for worker in busy where worker.rate != share {
      workers[worker.key]?.rate = share
      workers[worker.key]?.orders.append(Wire.Order(kind: .rate, maxRate: share ?? 0))
    }
  }

  // MARK: - The worker's calls

  /// Gives a worker its orders on this call; false if no worker has this token or it has asked before.
  func accept(_ call: TransferWorkers.WorkCall) -> Bool {
    guard let worker = workers.worker(of: call.parameters.token), worker.stage == .starting else { return false }
    guard call.wantsMore else {
      call.fail(ExpectedMore())
      return true
    }
    workers[worker.key]?.call = call
    workers[worker.key]?.stage = .working
    call.onDisconnect { self.callEnded(of: worker.key) }
    arm(worker.key)
    sendOrders()
    return true
  }

  /// Whether a worker has a transfer, so that its report counts.
  func has(_ id: TransferID, _ key: TaskKey) -> Bool { workers[key]?.given.contains(id) == true }

  /// Forgets a transfer that a worker has ended.
  func ended(_ id: TransferID, _ key: TaskKey) {
    workers[key]?.given.remove(id)
    workers[key]?.stopping.remove(id)
  }

  /// Takes note that a worker has reported; a worker that was told to stop or to end gets no more time for it.
  func heard(from key: TaskKey) {
    if let worker = workers[key], worker.stage == .working, worker.stopping.isEmpty { arm(key) }
  }

  /// Hands a line that a worker printed to the journal; false if the task is no worker.
  func receive(_ line: String, of key: TaskKey) -> Bool {
    guard let worker = workers[key] else { return false }
    ports.journal.output(line, of: key.refresh, worker.app, task: "transfer")
    return true
  }

  // MARK: - Life

  private func start(for app: AppConfiguration) -> TaskKey? {
    let key = TaskKey(refresh: core.makeID(), task: 0)
    let token = Token.make()
    do throws(SystemdError) {
      let timer = try core.scheduler.timer { [unowned self] in boundPassed(key) }
      workers[key] = TransferWorkers.Worker(key: key, app: app.id, token: token, timer: timer)
    } catch {
      return nil
    }
    arm(key)
    // In "/", because system accounts often have no home.
    let command = Command(
      arguments: [environment.worker, "transfer"], directory: "/",
      environment: app.commands.first?.environment ?? [])
    ports.launcher.start(
      TaskLaunch(
        key: key, app: app.id, command: command, owner: app.owner,
        environment: environment.variables(ofWorker: command, app: app, id: key.refresh, token: token),
        description: "\(app.name): transfers", timeLimit: Duration.longest, grace: Self.endBound,
        properties: app.sandbox.map(UnitProperty.init), input: nil, changedPath: nil))
    return key
  }

  /// Bounds how long a worker may be silent, by what it has to do.
  private func arm(_ key: TaskKey) {
    guard let worker = workers[key] else { return }
    switch worker.stage {
    case .starting: arm(worker, for: Self.startBound)
    case .working where !worker.stopping.isEmpty: arm(worker, for: bound(ofStopping: worker.stopping))
    case .working where worker.given.isEmpty: arm(worker, for: Self.linger)
    case .working: worker.timer.disarm()
    case .finishing, .asked, .killed: arm(worker, for: Self.endBound)
    }
  }

  private func arm(_ worker: TransferWorkers.Worker, for bound: Duration) {
    core.scheduler.arm(worker.timer, after: bound, accuracy: 50_000)
  }

  /// How long a worker may take to stop transfers, boot clock.
  ///
  /// A POST that was sent whole is never sent again, so its answer is awaited for as long as a transfer may stall.
  private func bound(ofStopping stopping: Set<TransferID>) -> Duration {
    if core.engine.isStopping { return Self.endBound }
    return stopping.contains(where: awaitsAnswer)
      ? Self.stopBound + core.configuration.transfers.stallTimeout : Self.stopBound
  }

  /// Tells a worker that nothing is left for it.
  private func finish(_ key: TaskKey) {
    guard let worker = workers[key] else { return }
    workers[key]?.stage = .finishing
    arm(key)
    worker.call?.reply(
      WorkerInterface.Work.Reply(orders: worker.orders + [Wire.Order(kind: .finish)]), continues: false)
    workers[key]?.orders = []
  }

  private func boundPassed(_ key: TaskKey) {
    guard let worker = workers[key] else { return }
    switch worker.stage {
    case .working where worker.given.isEmpty:
      finish(key)
      sendOrders()
    case .working where worker.stopping.isEmpty: return
    case .working, .starting, .finishing: askToEnd(key)
    case .asked, .killed:
      workers[key]?.stage = .killed
      ports.launcher.kill(key)
      arm(key)
    }
  }

  private func askToEnd(_ key: TaskKey) {
    workers[key]?.stage = .asked
    ports.launcher.terminate(key)
    arm(key)
  }

  /// Ends all workers, because the daemon stops; if it is urgent, at once.
  func endAll(isUrgent: Bool) {
    for worker in workers.all.values {
      if isUrgent { ports.launcher.kill(worker.key) } else if worker.call == nil, worker.isOpen { askToEnd(worker.key) }
    }
    sendOrders()
  }

  /// Takes note that a worker's connection is gone: the worker ends by itself now.
  private func callEnded(of key: TaskKey) {
    workers[key]?.call = nil
    guard workers[key]?.isOpen == true else { return }
    workers[key]?.stage = .finishing
    arm(key)
  }

  /// Handles the end of a worker, which loses its transfers; false if the task is no worker.
  func end(_ key: TaskKey, _ end: TaskEnd) -> Bool {
    guard let worker = workers[key] else { return false }
    worker.timer.cancel()
    workers[key] = nil
    ports.launcher.release(key.refresh)
    let trouble = Self.trouble(end)
    onLost(worker.given.sorted(), trouble)
    if let trouble { ports.journal.workerEnded(of: worker.app, trouble) }
    sendOrders()
    return true
  }

  /// Why a worker ended that had something left to do, as far as that is trouble.
  private static func trouble(_ end: TaskEnd) -> String? {
    switch end.exit {
    case .exited(0): nil
    case .exited(let code): "the worker ended with exit code \(code)"
    case .signalled(let signal): "the worker was ended by signal \(signal)"
    case .notStarted(let reason): reason
    case .outOfMemory: "the worker was killed because memory ran out"
    case .timedOut, .lostClient: "the worker took too long"
    }
  }
}
