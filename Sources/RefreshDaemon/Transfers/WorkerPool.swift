import RefreshAPI
import RefreshConfig
import RefreshEngine
import Systemd
import Varlink

/// The part of the daemon that a ``WorkerPool`` moves files for.
protocol WorkerPoolOwner: AnyObject {
  /// Whether a POST may have arrived, so that the worker waits for its answer.
  func awaitsAnswer(_ id: TransferID) -> Bool
  /// Handles the loss of an ended worker's transfers, and the worker's failure.
  func lost(_ ids: [TransferID], _ trouble: String?)
}

/// The worker processes that move files: one for each app with transfers and each folder of their targets.
///
/// A worker starts for its first order, lives for a moment after its last, and is ended if it stays silent.
final class WorkerPool: ProcessOwner {
  typealias WorkCall = Call<WorkerInterface.Work.Parameters>

  /// How long a worker may take to ask for work.
  private static let startBound = Duration.seconds(30)
  /// How long a worker without work is kept for later transfers.
  private static let linger = Duration.milliseconds(1500)
  /// How long a worker may take to end by itself.
  private static let endBound = TerminationSequence.shortGrace
  /// How long a worker may take to stop a transfer: a disk may have much to write.
  private static let stopBound = Duration.seconds(15)

  private unowned let core: DaemonCore
  private let ports: Ports
  let environment: TaskEnvironment
  private var workers: [ProcessKey: Worker] = [:]
  let folders = WorkerFolders()
  /// Why no worker can be started at present; nil while workers can be.
  var problem: String? { ports.processes.problem }
  private unowned let owner: any WorkerPoolOwner

  init(_ core: DaemonCore, _ ports: Ports, _ environment: TaskEnvironment, for owner: any WorkerPoolOwner) {
    (self.core, self.ports, self.environment, self.owner) = (core, ports, environment, owner)
  }

  /// Whether no worker is left, except workers that outlived SIGKILL.
  var isEmpty: Bool { workers.values.allSatisfy(\.ending.isGivenUp) }

  /// The worker with a token, if the peer is its user.
  func worker(of token: String, for peer: Peer) -> Worker? {
    workers.values.first { $0.token == token && $0.user == peer.uid }
  }

  private func holder(of id: TransferID) -> Worker? { workers.values.first { $0.given.contains(id) } }

  /// The transfers that workers have, in order of their numbers.
  var given: [TransferID] { workers.values.flatMap(\.given).sorted() }

  /// Whether a worker has the transfer.
  func hasOne(for id: TransferID) -> Bool { holder(of: id) != nil }

  // MARK: - Orders

  /// Gives the app's worker an order, and starts a worker if there is none; false if none can be started.
  ///
  /// A transfer that a Flatpak asked for gets a worker that is bound to the files of that Flatpak.
  func order(_ order: Wire.Order, of id: TransferID, _ app: AppConfiguration, flatpak: String?) -> Bool {
    let bounds = order.transfer?.bounds
    let open = workers.values.first { $0.isOpen && $0.serves(app, flatpak, bounds) }
    guard let worker = open ?? start(for: app, flatpak, bounds) else { return false }
    worker.orders.append(order)
    worker.given.insert(id)
    if worker.stage == .working, worker.stopping.isEmpty { arm(worker) }
    return true
  }

  /// Orders the worker that has a transfer to stop it; false if no worker has it.
  func stop(_ id: TransferID, _ order: Wire.Order) -> Bool {
    guard let worker = holder(of: id) else { return false }
    worker.orders.append(order)
    boundStop(of: id)
    return true
  }

  /// Bounds the time in which the worker that has a transfer must stop it.
  func boundStop(of id: TransferID) {
    guard let worker = holder(of: id) else { return }
    let isFirst = worker.stopping.isEmpty
    worker.stopping.insert(id)
    if worker.stage == .working, isFirst || owner.awaitsAnswer(id) { arm(worker) }
  }

  /// Sends workers the orders of this turn of the loop.
  func sendOrders() {
    // Idle workers finish first, because that raises the share of the others.
    for worker in workers.values where core.engine.isStopping && worker.given.isEmpty && worker.stage == .working {
      finish(worker)
    }
    shareBandwidth()
    for worker in workers.values {
      guard !worker.orders.isEmpty, let call = worker.call else { continue }
      call.reply(WorkerInterface.Work.Reply(orders: worker.claimOrders()), continues: true)
    }
  }

  /// Shares the bandwidth bound, if any, evenly among the workers with work.
  private func shareBandwidth() {
    let busy = workers.values.filter { $0.isOpen && !$0.given.isEmpty }
    let share = Bandwidth.share(of: core.configuration.transfers.bandwidth, among: busy.count)
    for worker in busy where worker.rate != share {
      worker.rate = share
      worker.orders.append(Wire.Order(kind: .rate, maxRate: share ?? 0))
    }
  }

  // MARK: - The worker's calls

  /// Gives a worker its orders on this call; false if no worker has this token, or it has asked before.
  func accept(_ call: WorkCall) -> Bool {
    guard let worker = worker(of: call.parameters.token, for: call.peer), worker.stage == .starting else {
      return false
    }
    guard call.wantsMore else {
      call.fail(ExpectedMore())
      return true
    }
    (worker.call, worker.stage) = (call, .working)
    call.onDisconnect { self.callEnded(of: worker) }
    arm(worker)
    sendOrders()
    return true
  }

  /// Records a worker's report; a worker that was asked to stop or to end gets no more time for it.
  func heard(from worker: Worker) {
    if worker.stage == .working, worker.stopping.isEmpty { arm(worker) }
  }

  func printed(_ line: String, by key: ProcessKey) {
    if let worker = workers[key] { ports.journal.output(line, of: key.run, worker.app, task: "transfer") }
  }

  // MARK: - Life

  /// How many stuck workers of an app may write to one folder before no further worker starts.
  private static let mostStuckWriters = 1
  /// How many stuck workers of an app may only read, from any folder.
  private static let mostStuckReaders = 4

  /// Whether another worker would probably get stuck in the kernel, like earlier workers of the app.
  private func wouldBeStuck(_ app: AppID, in folder: String?) -> Bool {
    let stuck = workers.values.count { $0.ending.isGivenUp && $0.app == app && $0.folder == folder }
    return stuck >= (folder == nil ? Self.mostStuckReaders : Self.mostStuckWriters)
  }

  private func start(for app: AppConfiguration, _ flatpak: String?, _ needed: Wire.WorkerBounds?) -> Worker? {
    let folder = needed?.writes
    guard !wouldBeStuck(app.id, in: folder) else { return nil }
    let bounds = flatpak == nil ? environment.bounds(needed) : nil
    let run = core.makeRun(of: app.id, for: .worker)
    let key = ProcessKey(run)
    let worker: Worker
    do throws(SystemdError) {
      let timer = try core.scheduler.timer { [unowned self] in workers[key].map(boundPassed) }
      worker = Worker(key: key, app: app, folder: folder, flatpak: flatpak, bounds: bounds, timer: timer)
    } catch {
      return nil
    }
    workers[key] = worker
    arm(worker)
    // Its directory is "/", because system accounts often have no home.
    let command = Command(
      arguments: [environment.worker, Wire.WorkerCommand.transfer.rawValue], directory: "/",
      environment: app.commands.first?.environment ?? [])
    ports.processes.start(
      TaskLaunch(
        key: key, app: app.id, command: command, owner: app.owner,
        environment: environment.variables(
          ofWorker: command, app: app, run: run, token: worker.token, flatpak: flatpak, bounds: bounds),
        description: "\(app.name): transfers", timeLimit: Duration.longest, grace: TerminationSequence.shortGrace,
        sandbox: app.sandbox, confinement: folders.confinement(of: key, to: folder),
        input: nil, changedPath: nil),
      for: self)
    return worker
  }

  /// Arms the bound of a worker's silence, by its stage.
  private func arm(_ worker: Worker) {
    switch worker.stage {
    case .starting: arm(worker, for: Self.startBound)
    case .working where !worker.stopping.isEmpty: arm(worker, for: bound(ofStopping: worker.stopping))
    case .working where worker.given.isEmpty: arm(worker, for: Self.linger)
    case .working: worker.timer.disarm()
    case .finishing: arm(worker, for: Self.endBound)
    case .ending: if let wake = worker.ending.wake { worker.timer.arm(at: wake.microseconds, accuracy: 50_000) }
    }
  }

  private func arm(_ worker: Worker, for bound: Duration) {
    core.scheduler.arm(worker.timer, after: bound, accuracy: 50_000)
  }

  /// How long a worker may take to stop transfers.
  ///
  /// A POST that was sent completely is never repeated, so the worker awaits its answer as long as a transfer may stall.
  private func bound(ofStopping stopping: Set<TransferID>) -> Duration {
    if core.engine.isStopping { return Self.endBound }
    return stopping.contains(where: owner.awaitsAnswer)
      ? Self.stopBound + core.configuration.transfers.stallTimeout : Self.stopBound
  }

  /// Tells a worker that no work is left.
  private func finish(_ worker: Worker) {
    worker.stage = .finishing
    arm(worker)
    worker.call?.reply(
      WorkerInterface.Work.Reply(orders: worker.claimOrders() + [Wire.Order(kind: .finish)]), continues: false)
  }

  private func boundPassed(_ worker: Worker) {
    switch worker.stage {
    case .working where worker.given.isEmpty:
      finish(worker)
      sendOrders()
    case .working where worker.stopping.isEmpty: return
    case .working, .starting, .finishing, .ending: signalEnd(of: worker)
    }
  }

  /// Sends a worker the next signal of its end: SIGTERM, then SIGKILL.
  private func signalEnd(of worker: Worker) {
    worker.stage = .ending
    let step = worker.ending.beginOrAdvance(at: core.now)
    if let step { ports.processes.send(step, to: worker.key) }
    arm(worker)
    if step == .giveUp { giveUp(worker) }
  }

  /// Takes the transfers from a worker that SIGKILL does not end: it never runs again, so another worker may have them.
  private func giveUp(_ worker: Worker) {
    let processes = ports.processes.processes(of: worker.key)
    let number = processes.isEmpty ? "" : " (process \(processes.map(String.init).joined(separator: ", ")))"
    let trouble = "the worker\(number) is blocked in the kernel and cannot be killed"
    let given = worker.given.sorted()
    worker.given = []
    ports.journal.workerEnded(of: worker.app, trouble)
    owner.lost(given, trouble)
    sendOrders()
    core.delegate.leaveIfDone()
  }

  /// Ends all workers, because the daemon stops; at once if it is urgent.
  func endAll(isUrgent: Bool) {
    for worker in workers.values {
      if isUrgent {
        ports.processes.kill(worker.key)
      } else if worker.call == nil, worker.isOpen {
        signalEnd(of: worker)
      }
    }
    sendOrders()
  }

  /// Handles the loss of a worker's connection: the worker ends by itself now.
  private func callEnded(of worker: Worker) {
    worker.call = nil
    guard worker.isOpen, workers[worker.key] != nil else { return }
    worker.stage = .finishing
    arm(worker)
  }

  /// Reports the transfers of an ended worker as lost.
  func ended(_ key: ProcessKey, _ end: TaskEnd) {
    guard let worker = workers.removeValue(forKey: key) else { return }
    worker.timer.cancel()
    folders.noteEnd(of: key, end)
    ports.processes.release(key.run)
    let trouble = end.trouble(of: "the worker")
    owner.lost(worker.given.sorted(), trouble)
    if let trouble { ports.journal.workerEnded(of: worker.app, trouble) }
    sendOrders()
    core.delegate.leaveIfDone()
  }
}

extension WorkerPool {
  /// A worker; it may end at every stage, and a silent worker goes on to `ending` by itself.
  ///
  /// ```
  /// starting -> working -> finishing -> ending -> (ended)
  /// ```
  final class Worker {
    enum Stage {
      case starting
      /// It has asked for work, and accepts orders.
      case working
      /// It has heard that nothing is left for it, or its connection is gone.
      case finishing
      /// It got SIGTERM, and gets SIGKILL if it does not end.
      case ending
    }

    let key: ProcessKey
    let app: AppID
    /// The folder that it may write to; nil if it only reads.
    let folder: String?
    let user: UInt32
    /// The id of the Flatpak to whose files it is bound; nil if it works for a plain app.
    let flatpak: String?
    /// The files to which it binds itself; nil outside a user's daemon, and for a Flatpak.
    let bounds: Wire.WorkerBounds?
    /// Whether a path of its bounds leads elsewhere by now, so that it gets no more work.
    var isOutdated = false
    /// The app's sandbox at the worker's start.
    private let sandbox: AppSandbox
    let token = Token.make()
    let timer: any WakeTimer
    var stage = Stage.starting
    var ending = TerminationSequence(grace: TerminationSequence.shortGrace, killsAgain: true)
    var call: WorkCall?
    /// The orders that are not sent yet.
    var orders: [Wire.Order] = []
    /// The transfers that the worker moves or must stop.
    var given: Set<TransferID> = []
    /// The transfers that it was asked to stop.
    var stopping: Set<TransferID> = []
    /// Its limit in bytes a second, as last sent; nil without a limit.
    var rate: Int64?

    init(
      key: ProcessKey, app: AppConfiguration, folder: String?, flatpak: String?, bounds: Wire.WorkerBounds?,
      timer: any WakeTimer
    ) {
      (self.key, self.app, self.folder, self.flatpak, self.timer) = (key, app.id, folder, flatpak, timer)
      (self.bounds, user, sandbox) = (bounds, app.owner.uid, app.sandbox)
    }

    /// Whether it is this app's worker, runs as the app's file now says, and may open these files.
    func serves(_ app: AppConfiguration, _ flatpak: String?, _ needed: Wire.WorkerBounds?) -> Bool {
      self.app == app.id && user == app.owner.uid && sandbox == app.sandbox && self.flatpak == flatpak && !isOutdated
        && needed.map { bounds?.holds($0) ?? ($0.writes == nil || $0.writes == folder) } != false
    }

    /// Whether it accepts more work.
    var isOpen: Bool { stage == .starting || stage == .working }

    func claimOrders() -> [Wire.Order] {
      defer { orders = [] }
      return orders
    }

    /// Forgets a transfer that the worker has ended.
    func remove(_ id: TransferID) {
      given.remove(id)
      stopping.remove(id)
    }
  }
}
