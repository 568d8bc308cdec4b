import RefreshEngine

/// The data that outlives the daemon and the boot: the states of apps and device, their clock, and the history.
///
/// The store is one SQLite file in write-ahead mode. Everything but ``open(at:clock:executor:)`` runs on the given
/// executor, so that the event loop never waits for a disk.
///
/// A damaged file never keeps the daemon from starting: stale data in every app is worse than a lost history. The file is
/// renamed to `PATH.corrupt-SECONDS`, a new file begins, and the error says so. A file that a build before the first
/// release wrote becomes `PATH.unreleased-SECONDS`.
public actor RefreshStore {
  private let executor: any SerialExecutor
  private let path: String
  private let start: UInt32
  /// The clock at the last save.
  private var clock: BootClock
  /// The clock by which the state was restored, until it is set.
  private var late: LateClock?
  /// The open file; nil after it was closed or set aside.
  private var tables: Tables?
  /// The batch that is not saved yet.
  private var unsaved: Batch?

  /// The executor that ``open(at:clock:executor:)`` was given.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  private init(
    executor: any SerialExecutor, path: String, _ saved: SavedClock, tables: sending Tables, unsaved: Batch?
  ) {
    self.executor = executor
    self.path = path
    (start, clock, late) = (saved.start, saved.clock, saved.late)
    self.tables = tables
    self.unsaved = unsaved
  }

  /// Opens or makes the file, reads all states, and saves durably that the daemon has started once more.
  ///
  /// Runs on the calling thread, because the daemon needs the states before anything else. Throws if the file cannot be
  /// opened, has a newer schema, or cannot be written for another reason than a full disk.
  ///
  /// Removes apps that have long been out of the new configuration, `configured`. Nil removes none.
  public static func open(
    at path: String, clock: BootClock, executor: any SerialExecutor, configured: Set<AppID>? = nil
  ) throws(StoreError) -> (store: RefreshStore, loaded: Loaded) {
    do {
      return try begin(at: path, clock: clock, executor: executor, configured, damaged: nil)
    } catch {
      let damaged = try Tables.setAside(path, after: error, wallMicroseconds: clock.wall(clock.now))
      return try begin(at: path, clock: clock, executor: executor, configured, damaged: damaged)
    }
  }

  /// Saves a batch in one transaction, with the changes that earlier saves could not write.
  ///
  /// Returns the pushes of ``Batch/arrived`` that were not saved, because their messages were accepted before.
  ///
  /// With `durably` it returns when the disk has the batch (`synchronous = FULL`), for a promise to a caller. Otherwise the
  /// batch survives a crash of the daemon at once, and a loss of power a little later.
  ///
  /// When it throws, the disk has nothing of the batch. All but the new pushes is kept in memory, for the next save. After
  /// `corrupt`, here or from a read, the file is new: save every state again, also the device's.
  @discardableResult
  public func save(_ batch: Batch, durably: Bool) throws(StoreError) -> Set<PushID> {
    let batch = unsaved.map(batch.following) ?? batch
    let clock = BootClock(bootID: clock.bootID, now: batch.now, wallOffset: batch.wallOffset)
    if late?.isSettled(by: clock.wallOffset, after: self.clock.wallOffset) == true { late = nil }
    (unsaved, self.clock) = (batch, clock)
    let saved = SavedClock(clock: clock, start: start, late: late)
    let known = try withTables { tables throws(StoreError) in try tables.save(batch, clock: saved, durably: durably) }
    unsaved = nil
    return known
  }

  /// The newest refreshes of an app on the disk, newest first, `limit` at most.
  ///
  /// About 200 of an app are kept.
  public func history(of app: AppID, limit: Int) throws(StoreError) -> [StoredRefresh] {
    try withTables { tables throws(StoreError) in try tables.history.newest(limit, of: app) }
  }

  /// The newest waits of an app on the disk, newest first by their ends, `limit` at most.
  ///
  /// About 200 of an app are kept.
  public func waits(of app: AppID, limit: Int) throws(StoreError) -> [StoredWait] {
    try withTables { tables throws(StoreError) in try tables.waits.newest(limit, of: app) }
  }

  /// The newest dropped pushes of an app on the disk, newest first, `limit` at most.
  ///
  /// About 200 of an app are kept.
  public func droppedPushes(of app: AppID, limit: Int) throws(StoreError) -> [StoredDroppedPush] {
    try withTables { tables throws(StoreError) in try tables.droppedPushes.newest(limit, of: app) }
  }

  /// When the user had an app in the foreground, newest first.
  ///
  /// About 500 are kept.
  public func openings(of app: AppID) throws(StoreError) -> [StoredOpening] {
    try withTables { tables throws(StoreError) in try tables.openings.newest(.max, of: app) }
  }

  /// The newest refresh of each app.
  public func lastRefreshes() throws(StoreError) -> [AppID: StoredRefresh] {
    // Reading all apps at once fills the page cache with pages that are not read again.
    defer { tables?.database.forgetPages() }
    return try withTables { tables throws(StoreError) in try tables.history.last() }
  }

  /// Writes the log into the file and closes it, before the process ends or another process opens it.
  ///
  /// A batch that a full disk has refused is lost with the process. Any other call opens the file again.
  public func close() {
    tables = nil
  }

  private static func begin(
    at path: String, clock: BootClock, executor: any SerialExecutor, _ configured: Set<AppID>?, damaged: StoreError?
  ) throws(StoreError) -> (store: RefreshStore, loaded: Loaded) {
    let tables = try Tables.open(path)
    var loaded = Loaded()
    if let (data, saved) = try tables.load() {
      loaded = data
      loaded.previous = saved.clock.bootID == clock.bootID ? .sameBoot : .otherBoot
      loaded.lateClock = clock.late(since: saved.clock, saved.late)
      if loaded.previous == .otherBoot { loaded.move(by: clock.shift(since: saved.clock, saved.late)) }
      loaded.countTimeOff(stepFrom: saved.clock.wallOffset, to: clock.wallOffset)
    }
    loaded.damaged = damaged
    let outdated = loaded.removeOutdated(configured: configured, at: clock.now)
    var batch = loaded.changes(at: clock)
    for app in outdated { batch.changes.erase(app) }
    let saved = SavedClock(clock: clock, start: loaded.start, late: loaded.lateClock)
    do {
      try tables.save(batch, clock: saved, durably: true)
    } catch  where error.code == .full {
      loaded.unsaved = error
    }
    let store = RefreshStore(
      executor: executor, path: path, saved, tables: tables, unsaved: loaded.unsaved == nil ? nil : batch)
    return (store, loaded)
  }

  /// Lets `body` use the file; sets a damaged file aside, so that the next call begins a new one.
  private func withTables<Result>(
    _ body: (Tables) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    do {
      return try body(try openTables())
    } catch  where error.isSetAside {
      tables = nil
      throw try Tables.setAside(path, after: error, wallMicroseconds: clock.wall(clock.now))
    }
  }

  private func openTables() throws(StoreError) -> Tables {
    if let tables { return tables }
    let opened = try Tables.open(path)
    tables = opened
    return opened
  }
}
