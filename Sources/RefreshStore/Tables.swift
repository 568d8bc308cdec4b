import Glibc
import RefreshEngine

/// An open file with all of its tables.
final class Tables {
  let database: Database
  private let clock: ClockTable
  private let apps: AppTable
  private let device: DeviceTable
  private let learned: LearnedTable
  private var openings: OpeningTable
  private var history: History
  private var waits: WaitTable
  private let transfers: TransferTable
  private let validators: ValidatorTable
  private let pushes: PushTable
  private var droppedPushes: DroppedPushTable
  private var seenMessages: SeenMessageTable
  private let removal: Removal
  /// Whether `PRAGMA synchronous` is `FULL`.
  private var isDurable = false

  /// Opens or makes the file and brings it to this release's schema.
  ///
  /// A file that is there can be opened on a full disk too, though not shared then.
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
    clock = try ClockTable(database)
    apps = try AppTable(database)
    device = try DeviceTable(database)
    learned = try LearnedTable(database)
    openings = try OpeningTable(database)
    history = try History(database)
    waits = try WaitTable(database)
    transfers = try TransferTable(database)
    validators = try ValidatorTable(database)
    pushes = try PushTable(database)
    droppedPushes = try DroppedPushTable(database)
    seenMessages = try SeenMessageTable(database)
    removal = try Removal(database)
  }

  /// The data that was saved last.
  struct Saved {
    /// The clock by which the instants are read.
    let clock: BootClock
    /// The number of the daemon's start that saved it.
    let start: UInt32
    let states: [AppID: AppState]
    let device: DeviceState
    let learned: [AppID: Learned]
    let transfers: [TransferID: StoredTransfer]
    let unreadableTransfers: [TransferID: StoreError]
    let lastTransfer: UInt64
    let validators: [AppID: [String: Validator]]
    let pushes: [AppID: [Push]]
    let unreadablePushes: [PushID: StoreError]
    let lastPush: UInt64
  }

  /// The data that was saved last; nil in a new file.
  func load() throws(StoreError) -> Saved? {
    guard let (clock, start) = try clock.load() else { return nil }
    let (states, device, learned) = (try apps.load(), try device.load(), try learned.load())
    let (read, unreadable) = try transfers.load()
    let (readPushes, unreadablePushes) = try pushes.load()
    return Saved(
      clock: clock, start: start, states: states, device: device, learned: learned, transfers: read,
      unreadableTransfers: unreadable, lastTransfer: try transfers.last(), validators: try validators.load(),
      pushes: readPushes, unreadablePushes: unreadablePushes, lastPush: try pushes.last())
  }

  /// Saves in one transaction, and if `durably` returns only when the disk has it and all that was saved before.
  ///
  /// Gives the pushes that were not saved, because their messages were taken before.
  @discardableResult
  func save(_ batch: Batch, clock now: BootClock, start: UInt32, durably: Bool) throws(StoreError) -> Set<PushID> {
    if durably != isDurable {
      // Not a prepared statement: this pragma acts when it is compiled.
      try database.execute("PRAGMA synchronous = \(durably ? "FULL" : "NORMAL")", to: .save)
      isDurable = durably
    }
    return try database.transaction(to: .save) { () throws(StoreError) in
      try clock.save(now, start: start)
      for (app, state) in batch.states {
        try apps.save(state, of: app)
      }
      if let state = batch.device { try device.save(state) }
      for (app, learned) in batch.learned {
        if batch.states[app] == nil { try apps.add(app) }
        try self.learned.save(learned, of: app)
      }
      for opening in batch.openings {
        if batch.states[opening.app] == nil { try apps.add(opening.app) }
        try openings.add(opening.app, atWall: (opening.at + now.wallOffset).microseconds)
      }
      for record in batch.records {
        if batch.states[record.app] == nil { try apps.add(record.app) }
        try history.add(record, clock: now)
      }
      for record in batch.waits {
        if batch.states[record.app] == nil { try apps.add(record.app) }
        try waits.add(StoredWait(record, wallOffset: now.wallOffset))
      }
      try save(batch.transfers, of: batch)
      for (app, remembered) in batch.validators {
        if batch.states[app] == nil { try apps.add(app) }
        for (url, validator) in remembered { try validators.save(validator, of: app, url) }
      }
      let known = try save(batch.pushes, of: batch, clock: now)
      for app in batch.removed { try removal.remove(app) }
      return known
    }
  }

  private func save(_ changes: PushChanges, of batch: Batch, clock: BootClock) throws(StoreError) -> Set<PushID> {
    for (id, change) in changes.changed {
      switch change {
      case .kept(let app, let push):
        if batch.states[app] == nil { try apps.add(app) }
        try pushes.save(push, of: app)
      case .gone: try pushes.remove(id)
      }
    }
    for (app, messages) in changes.unseen {
      for message in messages { try seenMessages.remove(message, of: app) }
    }
    for push in changes.dropped {
      if batch.states[push.app] == nil { try apps.add(push.app) }
      try droppedPushes.add(StoredDroppedPush(push, wallOffset: clock.wallOffset))
    }
    var known: Set<PushID> = []
    for arrived in changes.arrived {
      if batch.states[arrived.app] == nil { try apps.add(arrived.app) }
      let isFirst = try arrived.message.map { message throws(StoreError) in
        try seenMessages.note(message, of: arrived.app, isNew: arrived.isNew, atWall: clock.wall(clock.now))
      }
      guard isFirst ?? true else {
        known.insert(arrived.id)
        continue
      }
      if let push = arrived.push { try pushes.save(push, of: arrived.app) }
    }
    return known
  }

  private func save(_ changes: TransferChanges, of batch: Batch) throws(StoreError) {
    for id in changes.removed { try transfers.remove(id) }
    for (id, transfer) in changes.whole.sorted(by: { $0.key < $1.key }) {
      let app = transfer.state.policy.app
      if batch.states[app] == nil { try apps.add(app) }
      try transfers.save(transfer, id)
    }
    for (id, state) in changes.states { try transfers.save(state, of: id) }
    for (id, progress) in changes.progress { try transfers.save(progress, of: id) }
  }

  /// The newest refreshes of an app, newest first.
  func newest(_ limit: Int, of app: AppID) throws(StoreError) -> [StoredRefresh] {
    try history.newest(limit, of: app)
  }

  /// The newest waits of an app, newest first.
  func newestWaits(_ limit: Int, of app: AppID) throws(StoreError) -> [StoredWait] {
    try waits.newest(limit, of: app)
  }

  /// The newest pushes of an app that were dropped, newest first.
  func newestDroppedPushes(_ limit: Int, of app: AppID) throws(StoreError) -> [StoredDroppedPush] {
    try droppedPushes.newest(limit, of: app)
  }

  /// The openings of an app that are kept, newest first, in microseconds of Unix time.
  func openings(of app: AppID) throws(StoreError) -> [Int64] { try openings.all(of: app) }

  /// The newest refresh of each app.
  func last() throws(StoreError) -> [AppID: StoredRefresh] { try history.last() }

  /// Renames a damaged file, with its write-ahead log, and gives its new name.
  ///
  /// No connection to it may be open here: SQLite deletes the log by its name when the last one closes.
  static func setAside(_ path: String, wallMicroseconds: Int64) throws(StoreError) -> String {
    let aside = "\(path).corrupt-\(wallMicroseconds / 1_000_000)"
    // The file itself last: a log without its file would be played into the new one.
    for suffix in ["-shm", "-wal", ""] {
      guard rename(path + suffix, aside + suffix) == 0 || errno == ENOENT else {
        throw .cannotSetAside(path, as: aside, systemError: errno)
      }
    }
    return aside
  }
}
