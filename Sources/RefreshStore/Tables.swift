import Glibc
import RefreshEngine

/// An open file with all of its tables.
final class Tables {
  let database: Database
  private let clock: OneRow<SavedClock>
  private let apps: AppTable
  private let device: OneRow<SavedDevice>
  private let learned: LearnedTable
  private(set) var openings: HistoryTable<StoredOpening>
  private let endOpening: Statement
  private let forgetOpenings: Statement
  private(set) var history: History
  private(set) var waits: HistoryTable<StoredWait>
  private let transfers: TransferTable
  private let validators: ValidatorTable
  private let pushes: PushTable
  private(set) var droppedPushes: HistoryTable<StoredDroppedPush>
  private var seenMessages: SeenMessageTable
  private let removal: Removal
  /// Whether `PRAGMA synchronous` is `FULL`.
  private var isDurable = false

  /// Opens or makes the file, and migrates it to this release's schema.
  ///
  /// An existing file can also be opened on a full disk, though then it is not shared.
  static func open(_ path: String) throws(StoreError) -> Tables {
    do {
      return try Tables(path: path, isExclusive: false)
    } catch  where error.code == .full {
      return try Tables(path: path, isExclusive: true)
    }
  }

  private init(path: String, isExclusive: Bool) throws(StoreError) {
    database = try Database(path: path, isExclusive: isExclusive)
    try Schema.migrate(database)
    clock = try OneRow(of: "clock", SavedClock(), on: database)
    apps = try AppTable(database)
    device = try OneRow(of: "device", SavedDevice(DeviceState()), on: database)
    learned = try LearnedTable(database)
    openings = try HistoryTable(depth: HistoryBound.openings, on: database)
    endOpening = try Statement(
      """
      UPDATE opening SET ended_wall_us = ?
      WHERE id = (SELECT max(id) FROM opening WHERE app = \(AppTable.key)) AND ended_wall_us IS NULL
      """, on: database, to: .save)
    forgetOpenings = try Statement(
      "DELETE FROM opening WHERE app = \(AppTable.key) AND is_observed", on: database, to: .save)
    history = try History(database)
    waits = try HistoryTable(on: database)
    transfers = try TransferTable(database)
    validators = try ValidatorTable(database)
    pushes = try PushTable(database)
    droppedPushes = try HistoryTable(on: database)
    seenMessages = try SeenMessageTable(database)
    removal = try Removal(database)
  }

  /// The saved data, and the clock by which its instants are read; nil in a new file.
  func load() throws(StoreError) -> (data: Loaded, saved: SavedClock)? {
    guard let saved = try clock.load() else { return nil }
    var data = Loaded()
    data.start = saved.start + 1
    data.states = try apps.load()
    if let device = try device.load() { data.device = device.state }
    data.learned = try learned.load()
    (data.transfers, data.unreadableTransfers) = try transfers.load()
    data.lastTransfer = try transfers.last()
    data.validators = try validators.load()
    (data.pushes, data.unreadablePushes) = try pushes.load()
    data.lastPush = try pushes.last()
    return (data, saved)
  }

  /// Saves in one transaction; if `durably`, returns only when the disk has it and all earlier changes.
  ///
  /// Returns the pushes that were not saved, because their messages were accepted before.
  @discardableResult
  func save(_ batch: Batch, clock saved: SavedClock, durably: Bool) throws(StoreError) -> Set<PushID> {
    let now = saved.clock
    if durably != isDurable {
      // No prepared statement: this pragma takes effect when it is compiled.
      try database.execute("PRAGMA synchronous = \(durably ? "FULL" : "NORMAL")", to: .save)
      isDurable = durably
    }
    return try database.transaction(to: .save) { () throws(StoreError) in
      try clock.save(saved)
      // Removals come first, because a file may name an app again that was just erased.
      for app in batch.changes.erased { try removal.remove(app) }
      for (app, state) in batch.states { try apps.save(state, of: app) }
      for app in batch.apps where batch.states[app] == nil { try apps.add(app) }
      if let state = batch.device { try device.save(SavedDevice(state)) }
      for (app, learned) in batch.learned { try self.learned.save(learned, of: app) }
      for opening in batch.changes.history.openings { try save(opening, clock: now) }
      for (app, isForgotten) in batch.changes.history.openingsForgotten where isForgotten {
        try forgetOpenings.run(.text(app.description))
      }
      for record in batch.changes.history.refreshes {
        try history.add(StoredRefresh(record, wallOffset: now.wallOffset), of: record.app)
      }
      for record in batch.changes.history.waits {
        try waits.add(StoredWait(record, wallOffset: now.wallOffset), of: record.app)
      }
      for push in batch.changes.history.droppedPushes {
        try droppedPushes.add(StoredDroppedPush(push, wallOffset: now.wallOffset), of: push.app)
      }
      try save(batch.transfers)
      for (app, remembered) in batch.validators {
        for (url, validator) in remembered { try validators.save(validator, of: app, url) }
      }
      return try savePushes(of: batch, clock: now)
    }
  }

  /// Adds an opening, or ends the app's newest opening if it goes on.
  private func save(_ opening: Opening, clock: BootClock) throws(StoreError) {
    let wall = (opening.at + clock.wallOffset).microseconds
    switch opening.change {
    case .began(let isObserved):
      try openings.add(StoredOpening(wallMicroseconds: wall, isObserved: isObserved), of: opening.app)
    case .ended: try endOpening.run(.integer(wall), .text(opening.app.description))
    }
  }

  private func savePushes(of batch: Batch, clock: BootClock) throws(StoreError) -> Set<PushID> {
    for (id, change) in batch.changes.pushes {
      switch change {
      case .kept(let app, let push): try pushes.save(push, of: app)
      case .gone, .merged: try pushes.remove(id)
      }
    }
    for (app, messages) in batch.unseen {
      for message in messages { try seenMessages.remove(message, of: app) }
    }
    var known: Set<PushID> = []
    for arrived in batch.arrived {
      let isFirst = try arrived.message.map { message throws(StoreError) in
        try seenMessages.record(message, of: arrived.app, isNew: arrived.isNew, atWall: clock.wall(clock.now))
      }
      guard isFirst ?? true else {
        known.insert(arrived.id)
        continue
      }
      if let push = arrived.push { try pushes.save(push, of: arrived.app) }
    }
    return known
  }

  private func save(_ values: TransferValues) throws(StoreError) {
    for id in values.removed { try transfers.remove(id) }
    for (id, transfer) in values.whole.sorted(by: { $0.key < $1.key }) {
      try transfers.save(transfer, id)
    }
    for (id, state) in values.states { try transfers.save(state, of: id) }
    for (id, progress) in values.progress { try transfers.save(progress, of: id) }
  }

  /// Renames a file that cannot be used, with its write-ahead log; returns its error, which then has the new name.
  ///
  /// Throws the error itself if it allows the file to be used later. No connection to the file may be open: SQLite
  /// deletes the log by its name when the last connection closes.
  static func setAside(
    _ path: String, after error: StoreError, wallMicroseconds: Int64
  ) throws(StoreError) -> StoreError {
    guard let word = error.asideWord else { throw error }
    let aside = "\(path).\(word)-\(wallMicroseconds / 1_000_000)"
    // The file itself goes last: SQLite would apply a log without its file to the new file.
    for suffix in ["-shm", "-wal", ""] {
      guard rename(path + suffix, aside + suffix) == 0 || errno == ENOENT else {
        throw .cannotSetAside(path, as: aside, systemError: errno)
      }
    }
    return error.setAside(as: aside)
  }
}
