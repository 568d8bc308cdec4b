import Foundation
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
  /// The content of the platters, in a file of its own.
  private var platters: RefreshStore?
  /// The saves that have not reached the platters, each with the file as it should be after it.
  private var unsynced: [(batch: Batch, model: DiskModel)] = []
  /// The least content after a loss of power, as it should be.
  private(set) var synced = DiskModel()
  private var waiting: [Save] = []
  /// Called when no save waits any more, because the daemon closes the store.
  private var onRest: (() -> Void)?
  /// The changes that the full disk has refused, which the store keeps in memory.
  private var refused: Batch?
  /// Whether the last save was refused.
  private(set) var hasRefused = false
  var weather = Weather.prompt
  /// The file as it should be.
  var model = DiskModel()

  init(_ world: SimulatedWorld, path: String) { (self.world, self.path) = (world, path) }

  /// Whether a save is under way.
  var isBusy: Bool { !waiting.isEmpty }

  /// Opens the file for a daemon that starts.
  func open() throws -> Loaded {
    let clock = BootClock(bootID: "boot \(world.boot)", now: world.instant, wallOffset: world.wallOffset)
    // A start is saved durably, with all that was saved before.
    try sync()
    platters = nil
    platters = try RefreshStore.open(at: plattersPath, clock: clock, executor: CallerExecutor()).store
    let (store, loaded) = try RefreshStore.open(at: path, clock: clock, executor: CallerExecutor())
    file = store
    world.book.opened(loaded)
    if loaded.isMoved { model.take(loaded) }
    synced = model
    return loaded
  }

  private var plattersPath: String { "\(path).platters" }

  /// Syncs all saves to the platters.
  private func sync() throws {
    for save in unsynced where world.fault != .losesSyncedSaves { try write(save.batch, into: platters) }
    (unsynced, synced) = ([], model)
  }

  /// Loses the power: of the unsynced saves, the first ones or none remain.
  func losePower() throws {
    (waiting, refused, hasRefused, onRest) = ([], nil, false, nil)
    close()
    for save in unsynced.prefix(world.dice.number(below: unsynced.count + 1)) {
      try write(save.batch, into: platters)
      synced = save.model
    }
    platters?.assumeIsolated { $0.close() }
    for end in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: path + end) {
      try FileManager.default.removeItem(atPath: path + end)
    }
    try FileManager.default.copyItem(atPath: plattersPath, toPath: path)
    synced.startUnits()
    (model, unsynced) = (synced, [])
  }

  func save(
    _ batch: Batch, durably: Bool, of life: DaemonLife, then answer: @escaping (Result<Set<PushID>, StoreError>) -> Void
  ) {
    let save = Save(batch: batch, isDurable: durably, life: life.number, answer: answer)
    waiting.append(save)
    world.note(
      "save \(batch.states.count) states, \(batch.changes.history.refreshes.count) ends\(durably ? ", durably" : "")")
    world.after(world.saveTime()) { [unowned self] in finish(save.life) }
    if world.fault == .performsBeforeSave {
      world.after(.microseconds(1)) { [unowned self] in world.deliver(to: save.life) { answer(.success([])) } }
    }
  }

  /// Makes a hanging disk continue.
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
    if waiting.isEmpty, let closed = onRest {
      onRest = nil
      world.later(.milliseconds(1), closed)
    }
    guard world.fault != .performsBeforeSave else { return }
    world.deliver(to: life) { save.answer(answer) }
  }

  private func write(_ batch: Batch, isDurable: Bool) -> Result<Set<PushID>, StoreError> {
    var whole = refused.map(batch.following) ?? batch
    (refused, hasRefused) = (nil, false)
    do {
      world.book.saves(whole)
      if world.fault != .losesAcknowledgedSave || !world.chance.happens(10) { try write(whole, into: file) }
      if world.fault == .savesEndsTwice { whole.changes.history.refreshes += whole.changes.history.refreshes }
      model.apply(whole)
      world.book.saved(whole)
      unsynced.append((whole, model))
      if isDurable { try sync() }
      return .success([])
    } catch {
      world.book.fail(.storeLoadsWhatWasSaved, "the store failed: \(error)")
      return .success([])
    }
  }

  private func write(_ batch: Batch, into file: RefreshStore?) throws {
    guard let file else { return }
    let problem = file.assumeIsolated { store -> StoreError? in
      // The simulation has its own platters, so no save waits for the real disk.
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
    (waiting, refused, hasRefused, onRest) = ([], nil, false, nil)
    close()
  }

  /// Answers when every save has its answer.
  func rest(then answer: @escaping () -> Void) {
    if waiting.isEmpty { world.later(.milliseconds(1), answer) } else { onRest = answer }
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

/// The store as one life of the daemon sees it.
final class SimulatedStore: DaemonStore {
  private unowned let world: SimulatedWorld
  private let disk: SimulatedDisk

  init(_ world: SimulatedWorld, _ disk: SimulatedDisk) { (self.world, self.disk) = (world, disk) }

  func save(_ batch: Batch, durably: Bool, then answer: @escaping StoreAnswer<Set<PushID>>) {
    guard let life = world.calling() else { return }
    disk.save(batch, durably: durably && world.fault != .syncsNothing, of: life, then: answer)
  }

  func past(of app: AppID, limit: Int, then answer: @escaping StoreAnswer<AppPast>) {
    answer(.success(AppPast(refreshes: [], waits: [], dropped: [])))
  }

  func openings(of app: AppID, then answer: @escaping StoreAnswer<[StoredOpening]>) { answer(.success([])) }

  func lastRefreshes(then answer: @escaping StoreAnswer<[AppID: StoredRefresh]>) {
    let found = disk.lastRefreshes()
    world.later(.milliseconds(1)) { answer(.success(found)) }
  }

  func close(then answer: @escaping () -> Void) { disk.rest(then: answer) }
}

/// An executor that runs its jobs on the thread of the caller: the simulation has one thread.
private final class CallerExecutor: SerialExecutor {
  func enqueue(_ job: consuming ExecutorJob) { job.runSynchronously(on: asUnownedSerialExecutor()) }
  func isIsolatingCurrentContext() -> Bool? { true }
  func checkIsolated() {}
}
