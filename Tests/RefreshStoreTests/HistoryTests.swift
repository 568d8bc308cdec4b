import RefreshEngine
import Testing

@testable import RefreshStore

/// The history is long enough to be useful and never longer.
@Suite struct HistoryTests {
  @Test func `an app's history is bounded and loses its oldest lines`() async throws {
    let scratch = try ScratchDirectory()
    let (store, _) = try RefreshStore.open(scratch)
    let (busy, quiet) = (try app("busy"), try app("quiet"))
    try await store.save(Batch(.morning, records: [.made(1, of: quiet)]), durably: false)
    let count: UInt32 = 1_000
    for numbers in stride(from: 2, through: count, by: 7) {
      let records = (numbers..<min(numbers + 7, count + 1)).map { RefreshRecord.made($0, of: busy) }
      try await store.save(Batch(.morning, records: records), durably: false)
      #expect(try scratch.number("SELECT count(*) FROM refresh") <= 1 + 200 + 16)
    }
    let history = try await store.history(of: busy, limit: .max)
    #expect(history.count >= 200)
    #expect(history.map(\.id.run.number) == Array((count - UInt32(history.count) + 1...count).reversed()))
    #expect(history.allSatisfy { $0.tasks.count == 2 })
    let taskCount = try scratch.number("SELECT count(*) FROM task")
    #expect(taskCount == Int64(2 * history.count + 2))
    #expect(try await store.history(of: quiet, limit: .max).count == 1)
  }

  @Test func `it is bounded too when every start of the daemon adds little`() async throws {
    let scratch = try ScratchDirectory()
    let todo = try app("todo")
    for _ in 1...60 {
      let (store, loaded) = try RefreshStore.open(scratch)
      let records = (1...5).map { RefreshRecord.made($0, start: loaded.start, of: todo) }
      try await store.save(Batch(.morning, records: records), durably: false)
    }
    let kept = try scratch.number("SELECT count(*) FROM refresh")
    #expect((200...216).contains(kept))
  }

  @Test func `the openings that desktops showed are forgotten, those of the same turn too, and told ones stay`()
    async throws
  {
    let scratch = try ScratchDirectory()
    let (store, _) = try RefreshStore.open(scratch)
    let (wrong, other) = (try app("wrong"), try app("other"))
    func opened(_ app: AppID, _ seconds: Int64, isObserved: Bool) -> Opening {
      Opening(app: app, at: Instant(microseconds: seconds * 1_000_000), change: .began(isObserved: isObserved))
    }
    try await store.save(
      Batch(.morning, openings: [opened(wrong, 1, isObserved: true), opened(wrong, 2, isObserved: false)]),
      durably: false)
    var batch = Batch(.morning, openings: [opened(wrong, 3, isObserved: true), opened(other, 4, isObserved: true)])
    batch.changes.history.openingsForgotten = [wrong: true, other: false]
    try await store.save(batch, durably: false)
    #expect(try await store.openings(of: wrong).map(\.isObserved) == [false])
    #expect(try await store.openings(of: other).count == 1)
    var after = Batch(.morning)
    after.changes.history.openingsForgotten = [wrong: false]
    #expect(after.following(batch).changes.history.openingsForgotten == [wrong: false, other: false])
  }

  @Test func `an app's waits are bounded and lose their oldest`() async throws {
    let scratch = try ScratchDirectory()
    let (store, _) = try RefreshStore.open(scratch)
    let (busy, quiet) = (try app("busy"), try app("quiet"))
    try await store.save(Batch(.morning, waits: [.made(1, of: quiet)]), durably: false)
    for numbers in stride(from: 1, through: 700, by: 7) {
      let waits = (numbers..<numbers + 7).map { WaitRecord.made($0, of: busy) }
      try await store.save(Batch(.morning, waits: waits), durably: false)
      #expect(try scratch.number("SELECT count(*) FROM wait") <= 1 + 200 + 16)
    }
    let waits = try await store.waits(of: busy, limit: .max)
    #expect(waits.count >= 200)
    #expect(
      waits
        == (701 - waits.count...700).reversed().map {
          StoredWait(.made($0, of: busy), wallOffset: BootClock.morning.wallOffset)
        })
    #expect(try await store.waits(of: quiet, limit: .max).count == 1)
    #expect(try await store.history(of: busy, limit: .max).isEmpty)
  }

  @Test func `what a file in trouble keeps waiting is bounded, and the later word on the device holds`() throws {
    let todo = try app("todo")
    let (one, two) = (DeviceState(pause: .untilAC), DeviceState(pause: .untilResumed))
    let earlier = Batch(.morning, device: one, waits: (1...700).map { .made($0, of: todo) })
    var later = Batch(.morning, waits: (701...1_400).map { .made($0, of: todo) })
    let dropped = [
      DroppedPush(
        id: PushID(1), app: todo, contentID: nil, arrivedAt: later.now, droppedAt: later.now, merged: 0)
    ]
    later.changes.history.droppedPushes = dropped
    let both = later.following(earlier)
    #expect(both.changes.history.droppedPushes == dropped)
    var erased = Batch(.morning)
    erased.changes.erase(todo)
    #expect(erased.following(both).changes.history == HistoryLines())
    #expect(both.changes.history.waits == (401...1_400).map { .made($0, of: todo) })
    #expect(both.device == one)
    #expect(Batch(.morning, device: two).following(both).device == two)
    #expect(Batch(.morning, device: DeviceState()).following(both).device == DeviceState())
  }

  @Test func `a person can read refreshes and waits together, newest first`() async throws {
    let scratch = try ScratchDirectory()
    let (store, _) = try RefreshStore.open(scratch)
    let todo = try app("todo")
    let wait = WaitRecord(
      app: todo, since: BootClock.morning.now - .minutes(3), until: BootClock.morning.now - .seconds(90),
      holds: [.network, .powerSaver])
    try await store.save(Batch(.morning, records: [.made(7, of: todo)], waits: [wait]), durably: false)
    let lines = try scratch.text(
      """
      SELECT group_concat(
        app || '|' || unixepoch(started, 'utc') || '|' || seconds || '|' || kind || '|' || text, char(10))
      FROM timeline
      """)
    #expect(
      lines == """
        org.example.todo|1749945540|2.0|refresh|failed exit 3
        org.example.todo|1749945420|90.0|wait|network,power-saver
        """)
  }

  @Test func `a person can read it with sqlite3`() async throws {
    let scratch = try ScratchDirectory()
    let (store, loaded) = try RefreshStore.open(scratch)
    try await store.save(
      Batch(.morning, records: [.made(7, start: loaded.start, of: try app("todo"))]), durably: false)
    let found = try scratch.number(
      """
      SELECT count(*) FROM history WHERE id = '1-7' AND app = 'org.example.todo' AND trigger = 'manual'
        AND outcome = 'failed' AND cause = 'exit' AND cause_code = 3 AND seconds = 2.0
        AND started = datetime('2025-06-14 23:59:00', 'localtime')
      """)
    #expect(found == 1)
  }

  @Test func `each cause has the word on disk that released versions read`() async throws {
    let scratch = try ScratchDirectory()
    let (store, loaded) = try RefreshStore.open(scratch)
    let causes: [(Cause, stored: String)] = [
      (.exit(3), "exit 3 -"), (.temporary(75), "temporary 75 -"), (.signal(11), "signal 11 -"),
      (.spawn("no file"), "spawn - no file"), (.reported("no route"), "reported - no route"),
      (.notRun(after: "pull"), "not-run - pull"), (.stopped(.constraintLost), "stopped - constraint-lost"),
      (.daemonCrashed, "daemon-crashed - -"), (.lostClient, "lost-client - -"), (.outOfMemory, "out-of-memory - -"),
    ]
    #expect(Set(causes.map(\.0.kind)) == Set(Cause.Kind.allCases))
    let todo = try app("todo")
    let records = zip(UInt32(1)..., causes).map { number, cause in
      var record = RefreshRecord.made(number, start: loaded.start, of: todo)
      record.outcome = .failed(cause.0)
      return record
    }
    try await store.save(Batch(.morning, records: records), durably: false)
    let stored = try scratch.text(
      """
      SELECT group_concat(line, ';') FROM (
        SELECT cause || ' ' || ifnull(cause_code, '-') || ' ' || ifnull(cause_text, '-') AS line FROM refresh ORDER BY id)
      """)
    #expect(stored == causes.map(\.stored).joined(separator: ";"))
    #expect(try await store.history(of: todo, limit: .max).map(\.outcome) == records.reversed().map(\.outcome))
  }
}

extension RefreshRecord {
  /// A record of two seconds and two tasks, a minute before ``BootClock/morning``.
  fileprivate static func made(_ number: UInt32, start: UInt32 = 1, of app: AppID) -> RefreshRecord {
    let startedAt = BootClock.morning.now.advanced(by: .minutes(-1))
    let tasks = ["pull", "push"].map {
      TaskRecord(name: $0, outcome: .failed(.exit(3)), duration: .seconds(2), cpu: .milliseconds(9), message: "no")
    }
    return RefreshRecord(
      id: RefreshID(start: start, number: number), app: app, trigger: .manual, startedAt: startedAt,
      endedAt: startedAt.advanced(by: .seconds(2)), outcome: .failed(.exit(3)), tasks: tasks)
  }
}

extension WaitRecord {
  /// A wait of `number` seconds, that has just ended at ``BootClock/morning``.
  static func made(_ number: Int, of app: AppID) -> WaitRecord {
    WaitRecord(
      app: app, since: BootClock.morning.now - .seconds(number), until: BootClock.morning.now, holds: [.network])
  }
}
