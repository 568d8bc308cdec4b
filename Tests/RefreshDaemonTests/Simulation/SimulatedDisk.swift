import RefreshEngine

@testable import RefreshDaemon
@testable import RefreshStore

/// The disk of a simulation: a real SQLite file behind a store that is slow, hangs, refuses, or loses its daemon.
final class SimulatedDisk {
  /// How the disk does its work at present.
  enum Weather { case prompt, slow, hanging, full }

  private struct Save {
    let batch: Batch
    let isDurable: Bool
    let life: Int
    let answer: (Result<Set<PushID>, StoreError>) -> Void
  }

  private unowned let world: SimulatedWorld
  private let path: String
  private var file: RefreshStore?
  private var waiting: [Save] = []
  /// The changes that the full disk has refused, which the store keeps in memory.
  private var refused: Batch?
  /// Whether the last save was refused.
  private(set) var hasRefused = false
  var weather = Weather.prompt
  /// The file as it should be.
  private(set) var model = DiskModel()

  init(_ world: SimulatedWorld, path: String) { (self.world, self.path) = (world, path) }

  /// Whether a save is under way.
  var isBusy: Bool { !waiting.isEmpty }

  /// Opens the file for a daemon that starts.
  func open() throws -> Loaded {
    let clock = BootClock(bootID: "boot", now: world.instant, wallOffset: world.wallOffset)
    let (store, loaded) = try RefreshStore.open(at: path, clock: clock, executor: CallerExecutor())
    file = store
    return loaded
  }

  func save(
    _ batch: Batch, durably: Bool, of life: DaemonLife, then answer: @escaping (Result<Set<PushID>, StoreError>) -> Void
  ) {
    let save = Save(batch: batch, isDurable: durably, life: life.number, answer: answer)
    waiting.append(save)
    world.note("save \(batch.states.count) states, \(batch.records.count) ends\(durably ? ", durably" : "")")
    world.after(world.saveTime()) { [unowned self] in finish(save.life) }
    if world.fault == .performsBeforeSave {
      world.after(.microseconds(1)) { [unowned self] in world.deliver(to: save.life) { answer(.success([])) } }
    }
  }

  /// Has a disk that hangs go on.
  func mend() {
    weather = .prompt
    for save in waiting { world.after(world.saveTime()) { [unowned self] in finish(save.life) } }
  }

  /// Ends the save that is under way, and answers it.
  private func finish(_ life: Int) {
    guard let index = waiting.firstIndex(where: { $0.life == life }) else { return }
    let save = waiting.remove(at: index)
    let answer: Result<Set<PushID>, StoreError>
    if weather == .full {
      world.note("the disk is full")
      world.book.refused(save.batch)
      if world.fault != .forgetsRefusedSave { refused = refused.map(save.batch.following) ?? save.batch }
      hasRefused = true
      answer = .failure(
        StoreError(.save, path: path, sqliteCode: 13, systemError: 0, cause: "database or disk is full"))
    } else {
      answer = write(save.batch, isDurable: save.isDurable)
    }
    guard world.fault != .performsBeforeSave else { return }
    world.deliver(to: life) { save.answer(answer) }
  }

  private func write(_ batch: Batch, isDurable: Bool) -> Result<Set<PushID>, StoreError> {
    var whole = refused.map(batch.following) ?? batch
    (refused, hasRefused) = (nil, false)
    do {
      if world.fault != .losesAcknowledgedSave || !world.chance.happens(10) { try write(whole) }
      if world.fault == .savesEndsTwice { whole.records += whole.records }
      model.apply(whole, isDurable: isDurable)
      world.book.saved(whole)
      return .success([])
    } catch {
      world.book.fail(.storeLoadsWhatWasSaved, "the store failed: \(error)")
      return .success([])
    }
  }

  private func write(_ batch: Batch) throws {
    guard let file else { return }
    let problem = file.assumeIsolated { store -> StoreError? in
      // Nothing in the simulation cuts the current, so no save waits for the platters.
      do throws(StoreError) { try store.save(batch, durably: false) } catch { return error }
      return nil
    }
    if let problem { throw problem }
  }

  /// The daemon is gone; a save that was under way may be on the disk or not.
  func loseDaemon(_ life: DaemonLife) {
    for save in waiting where weather != .full && weather != .hanging && world.chance.happens(50) {
      _ = write(save.batch, isDurable: save.isDurable)
      world.note("the save under way is complete")
    }
    (waiting, refused, hasRefused) = ([], nil, false)
    close()
  }

  func close() {
    file?.assumeIsolated { $0.close() }
    file = nil
  }

  func lastRefreshes() -> [AppID: StoredRefresh] {
    let file = file
    return file?.assumeIsolated { store -> [AppID: StoredRefresh] in
      do { return try store.lastRefreshes() } catch { return [:] }
    } ?? [:]
  }

  /// The history of an app as the file has it, newest first.
  func history(of app: AppID) -> [RefreshID] {
    let file = file
    return file?.assumeIsolated { store -> [RefreshID] in
      do { return try store.history(of: app, limit: 100).map(\.id) } catch { return [] }
    } ?? []
  }
}

/// The content of the file, kept beside it.
struct DiskModel {
  private(set) var states: [AppID: AppState] = [:]
  private(set) var device = DeviceState()
  private(set) var pushes: [PushID: Push] = [:]
  private(set) var appOfPush: [PushID: AppID] = [:]
  /// The states as of the last durable save.
  private(set) var durableStates: [AppID: AppState] = [:]
  private(set) var durableDevice = DeviceState()
  /// The payloads that were on the disk at the last durable save, or before it.
  private(set) var durablePayloads: Set<String> = []
  private var payloads: Set<String> = []
  /// The refreshes whose start is on the disk.
  private(set) var started: Set<RefreshID> = []
  /// How many outcomes each refresh has.
  private(set) var outcomes: [RefreshID: Int] = [:]

  mutating func apply(_ batch: Batch, isDurable: Bool) {
    states.merge(batch.states) { _, later in later }
    for state in batch.states.values { if let running = state.running { started.insert(running.id) } }
    if let device = batch.device { self.device = device }
    for record in batch.records { outcomes[record.id, default: 0] += 1 }
    for (id, change) in batch.pushes.changed {
      switch change {
      case .kept(let app, let push): (pushes[id], appOfPush[id]) = (push, app)
      case .gone: pushes[id] = nil
      }
    }
    for arrived in batch.pushes.arrived {
      guard let push = arrived.push else { continue }
      (pushes[arrived.id], appOfPush[arrived.id]) = (push, arrived.app)
      payloads.insert(push.payload)
    }
    guard isDurable else { return }
    (durableStates, durableDevice) = (states, device)
    durablePayloads = payloads
  }
}

/// The store as one life of the daemon sees it.
final class SimulatedStore: DaemonStore {
  private unowned let world: SimulatedWorld
  private let disk: SimulatedDisk

  init(_ world: SimulatedWorld, _ disk: SimulatedDisk) { (self.world, self.disk) = (world, disk) }

  func save(_ batch: Batch, durably: Bool, then answer: @escaping Answer<Set<PushID>>) {
    guard let life = world.calling() else { return }
    disk.save(batch, durably: durably, of: life, then: answer)
  }

  func past(of app: AppID, limit: Int, then answer: @escaping Answer<AppPast>) {
    answer(.success(AppPast(refreshes: [], waits: [], dropped: [])))
  }

  func openings(of app: AppID, then answer: @escaping Answer<[Int64]>) { answer(.success([])) }

  func lastRefreshes(then answer: @escaping Answer<[AppID: StoredRefresh]>) {
    let found = disk.lastRefreshes()
    world.later(.milliseconds(1)) { answer(.success(found)) }
  }

  func close(then answer: @escaping () -> Void) {
    disk.close()
    world.later(.milliseconds(1), answer)
  }
}

/// An executor that runs its jobs on the thread of the caller: the simulation has one thread.
private final class CallerExecutor: SerialExecutor {
  func enqueue(_ job: consuming ExecutorJob) { job.runSynchronously(on: asUnownedSerialExecutor()) }
  func isIsolatingCurrentContext() -> Bool? { true }
  func checkIsolated() {}
}
