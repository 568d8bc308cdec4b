import RefreshAPI
import RefreshConfig
import RefreshEngine
import Systemd

// The life of workers: started for the first order, told to finish after the last.

extension Daemon {
  /// How long a worker may take to ask for work, boot clock.
  private static let startBound = Duration.seconds(30)
  /// How long a worker without work is kept for what may come.
  private static let linger = Duration.milliseconds(1500)
  /// How long a worker may take to end by itself, and after SIGTERM.
  private static let endBound = Duration.seconds(5)
  /// How long a worker may take to stop a transfer: a disk may have much to write.
  private static let stopBound = Duration.seconds(15)

  /// Starts a worker for an app, and gives its key; nil when it cannot be begun with.
  func startWorker(of app: AppConfiguration) -> TaskKey? {
    let key = TaskKey(refresh: engine.makeID(), task: 0)
    let token = Token.make()
    do throws(SystemdError) {
      let timer = try loop.timer { self.workerIsSilent(key) }
      workers[key] = TransferWorkers.Worker(key: key, app: app.id, token: token, timer: timer)
    } catch {
      return nil
    }
    armWorker(key)
    // Not the owner's home, which accounts of the system often do not have.
    let command = Command(
      arguments: [workerProgram, "transfer"], directory: "/", environment: app.commands.first?.environment ?? [])
    launcher.start(
      TaskLaunch(
        key: key, app: app.id, command: command, owner: app.owner,
        environment: environment.variables(ofWorker: command, app: app, id: key.refresh, token: token),
        description: "\(app.name): transfers", timeLimit: Duration.longest, grace: Self.endBound,
        properties: app.sandbox.map(UnitProperty.init), input: nil, changedPath: nil))
    return key
  }

  /// Gives workers the orders of this turn of the loop, and those that have nothing left to do a moment for more.
  func giveOrders() {
    // First, because it changes what the others may use.
    for worker in workers.all.values where engine.isStopping && worker.given.isEmpty && worker.stage == .working {
      finish(worker.key)
    }
    shareBandwidth()
    for worker in workers.all.values {
      guard !worker.orders.isEmpty, let call = worker.call else { continue }
      workers[worker.key]?.orders = []
      call.reply(WorkerInterface.Work.Reply(orders: worker.orders), continues: true)
    }
  }

  /// Bounds how long a worker may be silent, by what it has to do.
  func armWorker(_ key: TaskKey) {
    guard let worker = workers[key] else { return }
    switch worker.stage {
    case .starting: arm(worker, for: Self.startBound)
    case .working where !worker.stopping.isEmpty: arm(worker, for: bound(ofStopping: worker.stopping))
    case .working where worker.given.isEmpty: arm(worker, for: Self.linger)
    case .working: worker.timer.disarm()
    case .finishing, .asked, .killed: arm(worker, for: Self.endBound)
    }
  }

  /// How long a worker may take to stop transfers, boot clock.
  ///
  /// For a POST of which all was sent it is as long as a try may say nothing: it is not sent again, so its answer is waited
  /// for.
  private func bound(ofStopping stopping: Set<TransferID>) -> Duration {
    if engine.isStopping { return Self.endBound }
    let awaitsAnswer = stopping.contains { transfers[$0]?.mayHaveArrived ?? false }
    return awaitsAnswer ? Self.stopBound + configuration.transfers.stallTimeout : Self.stopBound
  }

  private func arm(_ worker: TransferWorkers.Worker, for bound: Duration) {
    worker.timer.arm(at: (Moment.now().instant + bound).microseconds, accuracy: 50_000)
  }

  /// Tells a worker that nothing is left for it.
  private func finish(_ key: TaskKey) {
    guard let worker = workers[key] else { return }
    workers[key]?.stage = .finishing
    armWorker(key)
    worker.call?.reply(
      WorkerInterface.Work.Reply(orders: worker.orders + [Wire.Order(kind: .finish)]), continues: false)
    workers[key]?.orders = []
  }

  /// The time of a worker's stage is up.
  private func workerIsSilent(_ key: TaskKey) {
    guard let worker = workers[key] else { return }
    switch worker.stage {
    case .working where worker.given.isEmpty:
      finish(key)
      giveOrders()
    case .working where worker.stopping.isEmpty: return
    case .working, .starting, .finishing: askToEnd(key)
    case .asked, .killed:
      workers[key]?.stage = .killed
      launcher.kill(key)
      armWorker(key)
    }
  }

  /// Asks a worker to end.
  private func askToEnd(_ key: TaskKey) {
    workers[key]?.stage = .asked
    launcher.terminate(key)
    armWorker(key)
  }

  /// Has all workers end, because the daemon does; a second time at once.
  func endWorkers(isUrgent: Bool) {
    for worker in workers.all.values {
      if isUrgent { launcher.kill(worker.key) } else if worker.call == nil, worker.isOpen { askToEnd(worker.key) }
    }
    giveOrders()
  }

  /// Takes note that a worker's connection is gone: it ends by itself now.
  func loseWork(of key: TaskKey) {
    workers[key]?.call = nil
    guard workers[key]?.isOpen == true else { return }
    workers[key]?.stage = .finishing
    armWorker(key)
  }

  /// Takes note of the end of a worker, and of all that it had; false for what is no worker.
  func takeEnd(ofWorker key: TaskKey, _ end: TaskEnd) -> Bool {
    guard let worker = workers[key] else { return false }
    worker.timer.cancel()
    workers[key] = nil
    launcher.release(key.refresh)
    let trouble = Self.trouble(end)
    for id in worker.given.sorted() {
      if let trouble { transfers[id]?.progress.message = trouble }
      pending.transferProgress.insert(id)
      handle(.transferReported(id, .lost(hasProgressed: transfers[id]?.hasProgressed ?? false)))
    }
    if let trouble { journal.workerEnded(of: worker.app, trouble) }
    giveOrders()
    leaveIfDone()
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

  /// Shares the bandwidth of all transfers evenly among the workers that have work, where there is a bound.
  private func shareBandwidth() {
    let busy = workers.all.values.filter { $0.isOpen && !$0.given.isEmpty }
    let share = configuration.transfers.bandwidth.map { max(1, $0 / Int64(max(1, busy.count))) }
    for worker in busy where worker.rate != share {
      workers[worker.key]?.rate = share
      workers[worker.key]?.orders.append(Wire.Order(kind: .rate, maxRate: share ?? 0))
    }
  }

  /// Where `refresh-worker` is; its usual place if it is nowhere, for the message that it cannot be started.
  var workerProgram: String { settings.reader.worker ?? "/usr/libexec/refreshd/refresh-worker" }
}

/// What says who calls, for whoever was given it.
enum Token {
  /// One more: 128 random bits, so that only who was given it can have it.
  static func make() -> String {
    (0..<2).map { _ in
      let half = String(UInt64.random(in: .min ... .max), radix: 16)
      return String(repeating: "0", count: 16 - half.count) + half
    }.joined()
  }
}
