import CSQLite
import Glibc
import RefreshEngine
import Testing
import Threads

@testable import RefreshStore

/// A damaged file keeps no daemon from starting, and nothing is lost that can be read.
@Suite struct DamageTests {
  @Test(arguments: [
    "not a database, but longer than the header of one, which is a hundred bytes".repeated(9),
    "SQLite format 3\0".repeated(64),
  ])
  func `a file that is no database is set aside and a new one begun`(content: String) async throws {
    let scratch = try ScratchDirectory()
    try scratch.write(content, to: "refreshd.db")
    let (store, loaded) = try RefreshStore.open(scratch)
    let damaged = try #require(loaded.damaged)
    let aside = "refreshd.db.corrupt-1749945600"
    #expect(damaged.code == .corrupt)
    #expect(damaged.description.contains("\(scratch.path)/\(aside)"))
    #expect(try scratch.read(aside) == content)
    #expect(loaded.start == 1)
    #expect(loaded.previous == .firstStart)

    let todo = try app("todo")
    try await store.save(Batch(.morning, states: [todo: AppState(isForeground: true)]), durably: true)
    let (_, again) = try RefreshStore.open(scratch)
    #expect(again.damaged == nil)
    #expect(again.states[todo]?.isForeground == true)
  }

  @Test(arguments: [
    "UPDATE app SET request_trigger = 'whim', request_earliest_us = 0",
    "UPDATE app SET id = 'no id'",
    "UPDATE app SET foreground_interval = '5 apples'",
    "UPDATE app SET last_start_us = 9223372036854775807",
    "UPDATE app SET skipped_until_us = 9223372036854775807",
    "UPDATE app SET failures = -1",
    "UPDATE app SET failures = 2147483647",
    "UPDATE app SET failures = 4294967296",
    "UPDATE app SET strikes_us = '1 two 3'",
    "UPDATE app SET strikes_us = '1 9223372036854775807'",
    "UPDATE app SET one_shot_earliest_us = 9223372036854775807",
    "UPDATE app SET waiting_since_us = -9223372036854775808",
    "UPDATE app SET waiting_since_us = 0, waiting_holds = 'network,whim'",
    "UPDATE device SET pause = 'whim'",
    "UPDATE device SET pause = 'until', pause_until_us = NULL",
    "UPDATE device SET pause = 'until', pause_until_us = 9223372036854775807",
    "UPDATE clock SET wall_offset_us = -9223372036854775808",
    "UPDATE clock SET start = 4294967295",
    "UPDATE clock SET start = -1",
  ])
  func `a row that no release wrote is damage, not a crash`(sql: String) async throws {
    let scratch = try ScratchDirectory()
    let (store, _) = try RefreshStore.open(scratch)
    let batch = Batch(.morning, states: [try app("todo"): AppState()], device: DeviceState(pause: .untilAC))
    try await store.save(batch, durably: false)
    try scratch.sql(sql)
    let (_, loaded) = try RefreshStore.open(scratch)
    #expect(loaded.damaged?.code == .corrupt)
    #expect(loaded.states.isEmpty)
    #expect(loaded.device == DeviceState())
    #expect(scratch.names.contains("refreshd.db.corrupt-1749945600"))
  }

  @Test(arguments: [
    "UPDATE transfer SET id = -1",
    "UPDATE transfer SET stage = 'whim'",
    "UPDATE transfer SET stage = 'ended', stage_word = 'whim', stage_us = 0",
    "UPDATE transfer SET stage_us = 9223372036854775807",
    "UPDATE transfer SET network = 'carrier pigeon'",
    "UPDATE transfer SET direction = 'sideways'",
    "UPDATE transfer SET failures = 2147483647",
    "UPDATE transfer SET priority = 2147483648",
    "UPDATE transfer SET bytes = -1",
    "UPDATE transfer SET resume_boot = 'a', durable = -1",
    "UPDATE transfer SET stage = 'no-space', needed = 4611686018427387904",
    "UPDATE transfer SET total = 9223372036854775807",
  ])
  func `a transfer that no release wrote is forgotten and costs nothing else`(sql: String) async throws {
    let scratch = try ScratchDirectory()
    let (store, _) = try RefreshStore.open(scratch)
    let todo = try app("todo")
    var batch = Batch(.morning, states: [todo: AppState(isForeground: true)])
    batch.transfers.whole = [TransferID(1): .made(of: todo), TransferID(2): .made(of: todo)]
    try await store.save(batch, durably: false)
    try scratch.sql(sql + " WHERE id = 1")
    let (_, loaded) = try RefreshStore.open(scratch)
    #expect(loaded.damaged == nil)
    #expect(loaded.states[todo]?.isForeground == true)
    #expect(Array(loaded.transfers.keys) == [TransferID(2)])
    #expect(loaded.unreadableTransfers.count == 1)
    #expect(loaded.unreadableTransfers.values.first?.description.contains("its column") == true)
    let (_, again) = try RefreshStore.open(scratch)
    #expect(again.unreadableTransfers.isEmpty && again.transfers == loaded.transfers)
  }

  @Test(arguments: [
    "UPDATE push SET id = -1",
    "UPDATE push SET urgency = 'whim'",
    "UPDATE push SET arrived_us = 9223372036854775807",
    "UPDATE push SET earliest_us = -9223372036854775808",
    "UPDATE push SET attempts = -1",
    "UPDATE push SET merged = 2147483648",
  ])
  func `a push that no release wrote is forgotten and costs nothing else`(sql: String) async throws {
    let scratch = try ScratchDirectory()
    let (store, _) = try RefreshStore.open(scratch)
    let todo = try app("todo")
    var batch = Batch(.morning, states: [todo: AppState(isForeground: true)])
    for number in UInt64(1)...2 {
      let push = Push(
        id: PushID(number), payload: "{}", contentID: nil, urgency: .normal, at: BootClock.morning.now)
      batch.changes.pushes[push.id] = .kept(todo, push)
    }
    try await store.save(batch, durably: false)
    try scratch.sql(sql + " WHERE id = 1")
    let (_, loaded) = try RefreshStore.open(scratch)
    #expect(loaded.damaged == nil)
    #expect(loaded.states[todo]?.isForeground == true)
    #expect(loaded.pushes[todo]?.map(\.id) == [PushID(2)])
    #expect(loaded.unreadablePushes.count == 1)
    let (_, again) = try RefreshStore.open(scratch)
    #expect(again.unreadablePushes.isEmpty && again.pushes == loaded.pushes)
  }

  @Test(arguments: [
    "UPDATE wait SET holds = 'network,whim'",
    "UPDATE wait SET since_wall_us = 9223372036854775807",
    "UPDATE wait SET until_wall_us = -9223372036854775808",
  ])
  func `a wait that no release wrote is damage, not a crash`(sql: String) async throws {
    let scratch = try ScratchDirectory()
    let (store, _) = try RefreshStore.open(scratch)
    let todo = try app("todo")
    try await store.save(Batch(.morning, waits: [.made(1, of: todo)]), durably: false)
    try scratch.sql(sql)
    let error = await #expect(throws: StoreError.self) { try await store.waits(of: todo, limit: 1) }
    #expect(error?.code == .corrupt)
    #expect(try await store.waits(of: todo, limit: 1).isEmpty)
  }

  @Test(arguments: [true, false])
  func `damage that shows while the daemon runs costs the history, not the states`(byReading: Bool) async throws {
    let scratch = try ScratchDirectory()
    let todo = try app("todo")
    var values = SeededValues(seed: 5)
    let state = values.state()
    try await fill(scratch, app: todo, state: state, values: &values)
    try scratch.overwritePages(of: ["refresh", "refresh_app", "task"])

    let (store, loaded) = try RefreshStore.open(scratch)
    #expect(loaded.damaged == nil)
    #expect(loaded.states == [todo: state])
    let record = values.record(of: todo, id: RefreshID(start: loaded.start, number: 1))
    let error = await #expect(throws: StoreError.self) {
      if byReading {
        _ = try await store.history(of: todo, limit: 10)
      } else {
        try await store.save(Batch(.morning, records: [record]), durably: false)
      }
    }
    #expect(error?.code == .corrupt)
    #expect(error?.description.contains("refreshd.db.corrupt-1749945600") == true)

    // As the error asks: save every state again.
    try await store.save(Batch(.morning, states: [todo: state]), durably: false)
    #expect(try await store.history(of: todo, limit: 10).count == (byReading ? 0 : 1))
    let (_, again) = try RefreshStore.open(scratch)
    #expect(again.states == [todo: state])
    #expect(again.start == loaded.start + 1)
  }

  @Test func `a file of a newer release is refused and left as it is`() throws {
    let scratch = try ScratchDirectory()
    _ = try RefreshStore.open(scratch)
    try scratch.sql("PRAGMA user_version = 99; CREATE TABLE from_the_future (x)")
    let error = #expect(throws: StoreError.self) { try RefreshStore.open(scratch) }
    #expect(error?.code == .newerSchema)
    #expect(
      error?.description
        == "cannot use \(scratch.database): a newer refreshd wrote it (schema 99, this one knows 16); install that "
        + "version again, or move the file away to start with an empty one")
    #expect(try scratch.number("PRAGMA user_version") == 99)
    #expect(try scratch.number("SELECT count(*) FROM from_the_future") == 0)
    #expect(try scratch.number("SELECT start FROM clock") == 1)
  }

  @Test func `a directory that is missing is named, with the remedy`() throws {
    let error = #expect(throws: StoreError.self) {
      try RefreshStore.open(
        at: "/nonexistent/refreshd.db", clock: .morning, executor: ThreadExecutor(name: "store-test"))
    }
    #expect(error?.code == .other)
    #expect(
      error?.description
        == "cannot open /nonexistent/refreshd.db: unable to open database file, No such file or directory "
        + "(SQLite 14); create its directory, and let refreshd's user write there")
  }

  private func fill(
    _ scratch: ScratchDirectory, app: AppID, state: AppState, values: inout SeededValues
  ) async throws {
    let (store, loaded) = try RefreshStore.open(scratch)
    let records = (1...50).map { values.record(of: app, id: RefreshID(start: loaded.start, number: $0)) }
    try await store.save(Batch(.morning, states: [app: state], records: records), durably: true)
    await store.close()
  }
}

extension String {
  fileprivate func repeated(_ count: Int) -> String { String(repeating: self, count: count) }
}
