import RefreshEngine
import Testing

@testable import RefreshStore

/// The loaded data equals the saved data.
@Suite struct RoundTripTests {
  @Test(arguments: 1...20)
  func `states come back as they were saved`(seed: UInt64) async throws {
    let scratch = try ScratchDirectory()
    var values = SeededValues(seed: seed)
    var expected: [AppID: AppState] = [:]
    let (store, _) = try RefreshStore.open(scratch)
    for _ in 1...4 {
      var changed: [AppID: AppState] = [:]
      for _ in 1...20 {
        changed[try app("a\(Int.random(in: 1...30, using: &values))")] = values.state()
      }
      try await store.save(Batch(.morning, states: changed), durably: .random(using: &values))
      expected.merge(changed) { _, new in new }
    }
    let (_, loaded) = try RefreshStore.open(scratch)
    #expect(loaded.states == expected, "seed \(seed)")
    #expect(loaded.previous == .sameBoot)
  }

  @Test(arguments: [nil, Pause.untilResumed, .untilAC, .until(BootClock.morning.now + .hours(1))])
  func `the user's pause comes back, until another one is saved`(pause: Pause?) async throws {
    let scratch = try ScratchDirectory()
    let (store, fresh) = try RefreshStore.open(scratch)
    #expect(fresh.device == DeviceState())
    try await store.save(Batch(.morning, device: DeviceState(pause: .until(BootClock.morning.now))), durably: true)
    try await store.save(Batch(.morning, device: DeviceState(pause: pause)), durably: true)
    // A batch that says nothing of the device changes nothing.
    try await store.save(Batch(.morning, states: [try app("todo"): AppState()]), durably: true)
    let (_, loaded) = try RefreshStore.open(scratch)
    #expect(loaded.device == DeviceState(pause: pause))
  }

  @Test(arguments: 1...20)
  func `the history has every wait, newest first, with wall time`(seed: UInt64) async throws {
    let scratch = try ScratchDirectory()
    var values = SeededValues(seed: seed)
    let (store, _) = try RefreshStore.open(scratch)
    let todo = try app("todo")
    let waits = (1...30).map { _ in values.wait(of: todo) }
    for half in [waits.prefix(15), waits.suffix(15)] {
      try await store.save(Batch(.morning, waits: Array(half)), durably: false)
    }
    let expected = waits.reversed().map { StoredWait($0, wallOffset: BootClock.morning.wallOffset) }
    #expect(try await store.waits(of: todo, limit: 100) == expected, "seed \(seed)")
    #expect(try await store.waits(of: todo, limit: 7) == Array(expected.prefix(7)))
    #expect(try await store.waits(of: app("other"), limit: 7).isEmpty)
  }

  @Test(arguments: 1...20)
  func `the history has every refresh, newest first, with wall time`(seed: UInt64) async throws {
    let scratch = try ScratchDirectory()
    var values = SeededValues(seed: seed)
    let (store, loaded) = try RefreshStore.open(scratch)
    let todo = try app("todo")
    let records = (1...30).map { values.record(of: todo, id: RefreshID(start: loaded.start, number: $0)) }
    for record in records {
      try await store.save(Batch(.morning, records: [record]), durably: false)
    }
    let expected = records.reversed().map { StoredRefresh($0, wallOffset: BootClock.morning.wallOffset) }
    #expect(try await store.history(of: todo, limit: 100) == expected, "seed \(seed)")
    #expect(try await store.history(of: todo, limit: 7) == Array(expected.prefix(7)))
    #expect(try await store.history(of: app("other"), limit: 7).isEmpty)
  }

  @Test func `the start counter counts every start`() throws {
    let scratch = try ScratchDirectory()
    let (_, first) = try RefreshStore.open(scratch)
    #expect(first.start == 1)
    #expect(first.previous == .firstStart)
    #expect(first.states.isEmpty)
    for expected: UInt32 in 2...4 {
      let (_, loaded) = try RefreshStore.open(scratch)
      #expect(loaded.start == expected)
      #expect(loaded.previous == .sameBoot)
    }
  }

  @Test func `the last refresh of each app is found`() async throws {
    let scratch = try ScratchDirectory()
    var values = SeededValues(seed: 7)
    let (store, _) = try RefreshStore.open(scratch)
    var expected: [AppID: StoredRefresh] = [:]
    for number: UInt32 in 1...60 {
      let record = values.record(of: try app("a\(number % 7)"), id: RefreshID(start: 1, number: number))
      try await store.save(Batch(.morning, states: [record.app: AppState()], records: [record]), durably: false)
      expected[record.app] = StoredRefresh(record, wallOffset: BootClock.morning.wallOffset)
    }
    try await store.save(Batch(.morning, states: [try app("never.refreshed"): AppState()]), durably: false)
    #expect(try await store.lastRefreshes() == expected)
  }

  @Test func `a durable save waits for the disk, another does not`() throws {
    let scratch = try ScratchDirectory()
    let tables = try Tables.open(scratch.database)
    let synchronous = try Statement("PRAGMA synchronous", on: tables.database, to: .read)
    for (durably, expected) in [(false, 1), (true, 2), (true, 2), (false, 1)] {
      try tables.save(Batch(.morning), clock: SavedClock(clock: .morning, start: 1), durably: durably)
      // 2 is FULL, which syncs at each commit; 1 is NORMAL, which syncs at a checkpoint (pragma.html).
      var found: Int64?
      try synchronous.rows { row in found = row.integer(0) }
      #expect(found == Int64(expected))
    }
  }

  @Test func `a closed store has all in its one file, and opens again when it is used`() async throws {
    let scratch = try ScratchDirectory()
    let (store, _) = try RefreshStore.open(scratch)
    let (todo, mail) = (try app("todo"), try app("mail"))
    try await store.save(Batch(.morning, states: [todo: AppState(isForeground: true)]), durably: false)
    await store.close()
    #expect(scratch.names == ["refreshd.db"])
    try await store.save(Batch(.morning, states: [mail: AppState(isLoggedOut: true)]), durably: false)
    let (_, loaded) = try RefreshStore.open(scratch)
    #expect(loaded.states == [todo: AppState(isForeground: true), mail: AppState(isLoggedOut: true)])
  }

  @Test func `a refresh keeps the outcome that was saved first`() async throws {
    let scratch = try ScratchDirectory()
    let (store, _) = try RefreshStore.open(scratch)
    var values = SeededValues(seed: 3)
    let todo = try app("todo")
    let id = RefreshID(start: 1, number: 1)
    let first = values.record(of: todo, id: id)
    let second = values.record(of: todo, id: id)
    try await store.save(Batch(.morning, records: [first]), durably: false)
    try await store.save(Batch(.morning, records: [second]), durably: false)
    #expect(try await store.history(of: todo, limit: 9).map(\.outcome) == [first.outcome])
  }
}
