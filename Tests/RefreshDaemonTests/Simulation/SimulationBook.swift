import RefreshEngine
import RefreshStore

@testable import RefreshDaemon

/// The observations of a daemon from outside, and the first promise that it breaks.
final class SimulationBook {
  private(set) var violation: (promise: DaemonPromise, text: String)?
  private unowned let world: SimulatedWorld
  /// Refreshes whose start the disk has refused: they run all the same.
  private var refusedStarts: Set<RefreshID> = []
  private var idOfPayload: [String: PushID] = [:]
  private var mergeable: Set<PushID> = []
  /// The push that each refresh reports.
  private var tells: [RefreshID: PushID] = [:]
  private var begun: Set<RefreshID> = []
  private(set) lazy var requests = RequestBook(world)
  private(set) lazy var clients = ClientBook(world)
  private(set) lazy var ends = EndBook(world)
  private(set) lazy var changes = ChangeBook(world)
  private(set) lazy var questions = QuestionBook(world)
  private var turns = (hour: Int64(0), count: 0)
  private var beforeSleep: (keys: Set<ProcessKey>, excused: Int64) = ([], 0)

  init(_ world: SimulatedWorld) { self.world = world }

  func fail(_ promise: DaemonPromise, _ text: String) {
    guard violation == nil else { return }
    world.note("BROKEN \(promise): \(text)")
    violation = (promise, text)
  }

  // MARK: - Tasks

  func started(_ launch: TaskLaunch) {
    let (key, model) = (launch.key, world.disk.model)
    if !model.started.contains(key.refresh), !refusedStarts.contains(key.refresh) {
      fail(.startIsSavedFirst, "\(key)")
    }
    let others = world.processes.inOrder
    if others.contains(where: { $0.key == key || ($0.app == launch.app && $0.key.refresh != key.refresh) }) {
      fail(.oneRefreshPerApp, "\(key) of \(launch.app) starts while \(others.map(\.key)) run")
    }
    // A process that outlives SIGKILL holds no slot. A refresh has its slot from its first task on, also if a restart
    // of the daemon finds more refreshes than there are slots.
    let holders = others.filter { process in process.killAt.map { world.now < $0 + 10_000_000 } ?? true }
    let isNew = begun.insert(key.refresh).inserted
    // The one app of the other user may have one slot more.
    let most = SimulatedWorld.slots + ((holders.map(\.app) + [launch.app]).contains(SimulatedSessions.app) ? 1 : 0)
    if isNew, Set(holders.map(\.key.refresh) + [key.refresh]).count > most {
      fail(.slotsAreBounded, "\(key) starts while \(others.map(\.key)) run")
    }
    if let offline = world.offlineSince, launch.environment.contains("REFRESH_TRIGGER=interval"),
      world.apps.contains(where: { $0.id == launch.app && $0.needsNetwork }),
      world.now - offline.at - (world.excused - offline.excused) > 10_000_000
    {
      fail(.startsMeetConstraints, "\(key) of \(launch.app)")
    }
    if others.allSatisfy({ $0.key.refresh != key.refresh }), key.task == 0, launch.timeLimit < .seconds(20) {
      fail(.deadlineIsWhole, "\(key) has \(launch.timeLimit)")
    }
    clients.started(launch)
    if isNew { questions.began(key.refresh, of: launch.app) }
    if isNew { world.sessions.began(launch) }
    guard let payload = launch.input.map({ String(decoding: $0, as: UTF8.self) }) else { return }
    if requests.hasRefused(payload) {
      fail(.pushIsToldOnce, "\(key) tells a push that was refused")
    }
    guard let push = idOfPayload[payload] else { return }
    if world.disk.model.done.contains(push) { fail(.pushIsToldOnce, "\(key) tells push \(push) again") }
    tells[key.refresh] = push
  }

  func killed(_ key: ProcessKey) {
    guard let process = world.processes[key], !process.hasSlept else { return }
    guard let termAt = process.termAt else { return fail(.stopsInTime, "\(key) is killed without SIGTERM") }
    if world.now < termAt + process.grace - 1000, beforeSleep.keys.isEmpty {
      fail(.stopsInTime, "\(key) is killed before its grace is over")
    }
  }

  func released(_ refresh: RefreshID) {
    if world.disk.model.outcomes[refresh] == nil { fail(.endIsSavedBeforeRelease, "\(refresh)") }
  }

  func sleepBegins() { beforeSleep = (Set(world.processes.live.keys), world.excused) }

  func asleep() {
    defer { beforeSleep = ([], 0) }
    guard world.excused == beforeSleep.excused, world.life?.isAlive == true else { return }
    for process in world.processes.inOrder where beforeSleep.keys.contains(process.key) && process.termAt == nil {
      fail(.sleepFindsNothing, "\(process.key) was not asked to end")
    }
  }

  /// The daemon has ended in order.
  func ended() {
    guard !world.outlives, let process = world.processes.inOrder.first else { return }
    fail(.stopEndsTasks, "\(process.key) still runs")
  }

  // MARK: - Store

  func refused(_ batch: Batch) {
    ends.take(batch, isSaved: false)
    for state in batch.states.values {
      guard let running = state.running else { continue }
      refusedStarts.insert(running.id)
      if let push = running.push { tells[running.id] = push }
    }
  }

  /// A batch is on the disk, with what was refused before.
  func saved(_ batch: Batch) {
    for state in batch.states.values {
      if let running = state.running, let push = running.push { tells[running.id] = push }
    }
    for push in batch.arrived.compactMap(\.push) { note(push) }
    for change in batch.changes.pushes.values { if case .kept(_, let push) = change { note(push) } }
    for record in batch.changes.history.refreshes {
      if world.disk.model.outcomes[record.id] != 1 { fail(.oneOutcome, "\(record.id) has more than one") }
      guard let push = tells[record.id] else { continue }
      world.disk.model.told.insert(push)
      // A refresh that lost a task tells the push again, whatever its other tasks did.
      let isDone = record.outcome.isFresh && record.tasks.allSatisfy(\.outcome.isFresh)
      if isDone { world.disk.model.done.insert(push) }
    }
    let dropped = Set(batch.changes.history.droppedPushes.map(\.id))
    for (id, change) in batch.changes.pushes where change == .gone {
      if world.disk.model.told.contains(id) || dropped.contains(id) || mergeable.contains(id) { continue }
      if requests.refusedInDisk.contains(where: { idOfPayload[$0] == id }) { continue }
      fail(.pushIsKept, "push \(id) is gone")
    }
    clients.saved(batch)
    ends.take(batch, isSaved: true)
  }

  /// A batch is about to be saved.
  func saves(_ batch: Batch) { clients.saves(batch) }

  private func note(_ push: Push) {
    idOfPayload[push.payload] = push.id
    if push.contentID != nil { mergeable.insert(push.id) }
  }

  func opened(_ loaded: Loaded) {
    let model = world.disk.model
    // In another boot, and when a late clock is set, the same moments are other instants.
    let place = { (instant: Instant) in loaded.isMoved ? Instant(microseconds: 0) : instant }
    for app in Set(loaded.states.keys).union(model.states.keys)
    where (loaded.states[app] ?? AppState()).moved(place, ahead: place)
      != (model.states[app] ?? AppState()).moved(place, ahead: place)
    {
      fail(.storeLoadsWhatWasSaved, "\(app) is \(String(describing: loaded.states[app]))")
    }
    let pushes = Set(loaded.pushes.values.joined().map { $0.moved(place) })
    if pushes != Set(model.pushes.values.map { $0.moved(place) }) {
      fail(.storeLoadsWhatWasSaved, "the pushes are others")
    }
    if loaded.device.moved(place).pause != model.device.moved(place).pause {
      fail(.storeLoadsWhatWasSaved, "the pause is another")
    }
    let states = { (transfers: [TransferID: StoredTransfer]) in
      transfers.mapValues { transfer in
        var state = transfer.state.moved(place)
        state.wrongs = 0
        return state
      }
    }
    if states(loaded.transfers) != states(model.transfers) {
      fail(.storeLoadsWhatWasSaved, "the transfers are others")
    }
    requests.check(loaded)
  }

  /// The daemon is gone, with every request that it has not answered.
  func lost() {
    requests.lost()
    refusedStarts = []
    clients.lost()
    ends.lost()
    questions.lost()
    world.sessions.lost()
    changes.lost()
  }

  // MARK: - Steps

  /// Checks what holds after each turn.
  func check() {
    let hour = world.now / 3_600_000_000
    turns = hour == turns.hour ? (hour, turns.count + 1) : (hour, 1)
    if turns.count > 6_000 { fail(.noSpin, "more than 6000 turns in an hour") }
    guard let life = world.life, life.isAlive else { return }
    for process in world.processes.inOrder { check(process) }
    requests.check()
    checkMemory(life.daemon)
    clients.check(life.daemon)
    ends.check(life.daemon)
    world.space.check(life.daemon)
    changes.check(life.daemon)
    questions.check(life.daemon)
    world.keepers.book.check(life.daemon)
  }

  private func check(_ process: SimulatedProcess) {
    world.sessions.check(process)
    let late = late(since: process.deadline, process.excusedAtStart)
    if process.termAt == nil, late > 5_000_000 { fail(.stopsInTime, "\(process.key) is past its deadline") }
    guard let termAt = process.termAt, process.killAt == nil else { return }
    if self.late(since: termAt + process.grace, process.excusedAtTerm) > 5_000_000 {
      fail(.stopsInTime, "\(process.key) is past its grace")
    }
  }

  /// The delay since an instant, without the time that does not count against the daemon.
  func late(since instant: Int64, _ excused: Int64) -> Int64 {
    world.now - instant - (world.excused - excused)
  }

  private func checkMemory(_ daemon: Daemon) {
    guard !world.disk.isBusy, daemon.saving.isEmpty, daemon.saving.problem == nil else { return }
    let (engine, model) = (daemon.core.engine, world.disk.model)
    for app in world.apps.map(\.id) {
      if engine.state(of: app) ?? AppState() != model.states[app] ?? AppState() {
        fail(.memoryIsDisk, "\(app): \(String(describing: engine.state(of: app)))")
      }
      let saved = model.pushes.values.filter { model.appOfPush[$0.id] == app }
      if Set(engine.pushes(of: app)) != Set(saved) { fail(.memoryIsDisk, "the pushes of \(app)") }
    }
    if engine.device.pause != model.device.pause { fail(.memoryIsDisk, "the pause") }
  }

  /// Checks what holds at the end, when everything has gone well for long enough.
  func finish() {
    guard let daemon = world.life?.daemon else { return fail(.everythingDueIsDone, "no daemon") }
    let (engine, model) = (daemon.core.engine, world.disk.model)
    let running = Set(model.states.values.compactMap { $0.running?.id })
    for refresh in model.started.sorted() where model.outcomes[refresh] == nil && !running.contains(refresh) {
      fail(.oneOutcome, "\(refresh) has none")
    }
    world.keepers.book.finish()
    changes.finish(engine)
    world.sessions.finish(engine)
    for app in world.apps.map(\.id) {
      let history = Set(world.disk.history(of: app))
      for refresh in (model.ended[app] ?? []).suffix(50) where !history.contains(refresh) {
        fail(.oneOutcome, "\(refresh) is not in the history")
      }
      clients.finish(app, engine)
      if !engine.pushes(of: app).isEmpty { fail(.everythingDueIsDone, "\(app) has pushes that wait") }
      guard let spacing = engine.backgroundInterval(of: app)?.spacing(floor: .minutes(15)) else { continue }
      let fresh = engine.state(of: app)?.freshAt ?? Instant(microseconds: 0)
      if fresh + spacing + .hours(9) < world.instant { fail(.everythingDueIsDone, "\(app) is stale since \(fresh)") }
    }
  }
}
