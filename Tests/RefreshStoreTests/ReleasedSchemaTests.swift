import Testing

@testable import RefreshEngine
@testable import RefreshStore

/// A file of every released schema loads for ever, with the values that its release wrote.
///
/// `Fixtures/schema-N.sql` is what `sqlite3 refreshd.db .dump` printed of a file that the release with schema N wrote
/// with exactly these values, and its `PRAGMA user_version`. Fixtures are added, never edited.
@Suite struct ReleasedSchemaTests {
  static let clock = BootClock(
    bootID: "7f3c1a52-8f0e-4c5b-9d0e-3a1b2c3d4e5f", now: Instant(microseconds: 86_400_000_001),
    wallOffset: .microseconds(1_750_000_000_123_456))

  static func states() throws -> [AppID: AppState] {
    [
      try app("todo"): AppState(
        isForeground: true, isLoggedOut: true,
        overrides: Overrides(foregroundInterval: .every(.minutes(1)), backgroundInterval: .minimum),
        lastStart: Instant(microseconds: 80_000_000_000), freshAt: Instant(microseconds: -5_000_000),
        request: Request(trigger: .catchUp, earliest: Instant(microseconds: 90_000_000_000)),
        running: Started(
          id: RefreshID(start: 3, number: 4_000_000_000), trigger: .push, at: Instant(microseconds: 86_399_000_000))),
      try app("mail"): AppState(overrides: Overrides(backgroundInterval: .never)),
      try app("news"): AppState(),
    ]
  }

  /// The same states with what schema 2 has more.
  static func statesOfSchema2() throws -> [AppID: AppState] {
    var states = try states()
    var todo = try #require(states[try app("todo")])
    todo.isDisabled = true
    todo.seenAt = Instant(microseconds: -7_000_000)
    todo.skippedUntil = Instant(microseconds: 91_000_000_000)
    todo.failures = 4
    todo.strikes = [-6_000_000, 79_000_000_000, 80_000_000_000].map(Instant.init(microseconds:))
    todo.oneShot = OneShot(earliest: Instant(microseconds: 92_000_000_000), reason: "näher 🛰️, it's \"soon\"")
    todo.waiting = Waiting(since: Instant(microseconds: 86_399_500_000), holds: holds)
    states[try app("todo")] = todo
    states[try app("news")]?.oneShot = OneShot(earliest: Instant(microseconds: 92_000_000_000), reason: "")
    return states
  }

  /// The same states with what schema 3 has more.
  static func statesOfSchema3() throws -> [AppID: AppState] {
    var states = try statesOfSchema2()
    states[try app("todo")]?.planned = Instant(microseconds: 94_000_000_000)
    states[try app("mail")]?.isStaleReported = true
    return states
  }

  /// The same states with what schema 4 has more.
  static func statesOfSchema4() throws -> [AppID: AppState] {
    var states = try statesOfSchema3()
    states[try app("todo")]?.waiting?.holds = Hold.Name.released
    return states
  }

  /// The same states with what schema 5 has more.
  static func statesOfSchema5() throws -> [AppID: AppState] {
    var states = try statesOfSchema4()
    states[try app("todo")]?.running?.session = "photos, the \"first\" 🛰️"
    states[try app("mail")]?.freshUntil = Instant(microseconds: 95_000_000_000)
    return states
  }

  /// A transfer for each stage, stop reason and result.
  static func transfers() throws -> [TransferID: StoredTransfer] {
    let stages: [TransferState.Stage] =
      [.waiting(from: Instant(microseconds: -1)), .transferring, .paused, .noSpace(needed: 1 << 33)]
      + TransferStop.allCases.map { .stopping($0) }
      + TransferResult.allCases.map { .ended($0, at: Instant(microseconds: 96_000_000_000)) }
    var transfers: [TransferID: StoredTransfer] = [:]
    for (number, stage) in zip(1..., stages) {
      var policy = TransferPolicy(
        session: TransferSession(app: try app("todo"), name: "photos"), host: "example.org:8443",
        network: NetworkConstraint.allCases[number % 4], enqueuedAt: Instant(microseconds: 97_000_000_000))
      policy.priority = Int32(number) - 8
      var state = TransferState(policy: policy, stage: stage)
      state.hasBegun = number.isMultiple(of: 2)
      state.failures = Int32(number)
      state.isDelivered = number.isMultiple(of: 3)
      transfers[TransferID(UInt64(number))] = StoredTransfer(
        state: state, request: number.isMultiple(of: 2) ? fullRequest : plainRequest,
        progress: number.isMultiple(of: 3) ? begunProgress : TransferProgress())
    }
    return transfers
  }

  static let plainRequest = TransferRequest(
    .download, url: "https://anna:secret@example.org:8443/a?token=1", path: "/home/anna/it's")

  static let fullRequest = {
    var request = TransferRequest(.upload, url: "http://example.org:8443/a", path: "/home/anna/b")
    request.description = "näher 🛰️"
    request.sha256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
    (request.length, request.maxRate) = (1 << 40, 1 << 20)
    (request.isPost, request.isTus, request.usesNetrc) = (true, true, true)
    (request.headersFile, request.credentialFile) = ("/home/anna/headers", "/home/anna/credential")
    request.notice = "All is there"
    return request
  }()

  static let begunProgress = {
    var progress = TransferProgress()
    (progress.attempts, progress.bytes, progress.total) = (3, 1 << 34, 1 << 35)
    (progress.message, progress.sha256) = ("HTTP status 503", "00")
    var resume = ResumeData(durable: 1 << 33, boot: clock.bootID)
    (resume.url, resume.etag, resume.tusURL) = ("https://cdn.example.org/a", "\"5f3\"", "https://example.org/files/1")
    (resume.lastModified, resume.date) = ("Sat, 21 Nov 2026 20:00:00 GMT", "Sat, 21 Nov 2026 22:00:00 GMT")
    (resume.total, resume.partMark) = (1 << 35, -4_711)
    progress.resume = resume
    return progress
  }()

  static func validators() throws -> [AppID: [String: Validator]] {
    [
      try app("news"): [
        "https://example.org/feed": Validator(etag: "W/\"1\"", lastModified: "Sat, 21 Nov 2026 20:00:00 GMT"),
        "https://example.org/other": Validator(digest: "00"),
      ]
    ]
  }

  /// The names of holds of schema 2 and 3.
  static let holds = Hold.Name.released.filter { ![.suspending, .noPerformer].contains($0) }

  /// The same device with what schema 3 has more.
  static let deviceOfSchema3 = {
    var state = device
    state.learnings = Learnings(budget: Budget(profile: .thrifty))
    // These releases expected openings at all times alike, before anything was seen.
    state.learnings.use.pool = [Float](repeating: 1 / Float(Use.halfHours), count: Use.halfHours)
    state.day = 20_274
    return state
  }()

  /// The learners of one app, as releases with schema 3 to 6 kept them: without the log of openings.
  static func learned() throws -> [AppID: Learned] {
    var learned = Learned()
    learned.opened(at: LocalTime(minutes: 1_440 * 20_274 + 720.5))
    learned.use.log = OpeningLog()
    learned.spent(duration: 1.5, cpu: 0.25, bytes: 1e6, metered: true)
    return [try app("todo"): learned]
  }

  static let openings = [81_000_000_000, 82_000_000_000].map {
    StoredOpening(wallMicroseconds: clock.wall(Instant(microseconds: $0)), isObserved: false)
  }

  static let device = DeviceState(pause: .until(Instant(microseconds: 93_000_000_000)))

  static func waits() throws -> [WaitRecord] { try waits(for: holds) }

  /// A wait for each hold.
  static func waits(for holds: [Hold.Name]) throws -> [WaitRecord] {
    let todo = try app("todo")
    return zip(1..., holds).map { number, hold in
      let since = Instant(microseconds: Int64(number) * 1_000_000)
      return WaitRecord(app: todo, since: since, until: since + .milliseconds(900), holds: [hold, .network])
    }
  }

  /// A refresh for each cause, with all triggers and stop reasons.
  static func records() throws -> [RefreshRecord] { try records(of: outcomes) }

  /// The same with what schema 4 has more.
  static func recordsOfSchema4() throws -> [RefreshRecord] {
    var records = try records(
      of: outcomes + [.failed(.lostClient), .failed(.outOfMemory), .failed(.stopped(.sleep)), .newData])
    records[records.count - 1].tasks = [
      TaskRecord(
        name: "pull", outcome: .newData, duration: .seconds(1), cpu: .milliseconds(7), message: "", bytes: 1 << 33)
    ]
    return records
  }

  static let outcomes: [Outcome] = [
    .newData, .noData, .failed(.exit(1)), .failed(.temporary(75)), .failed(.signal(11)),
    .failed(.spawn("cannot run /usr/bin/nothing: No such file or directory")), .failed(.reported("no route")),
    .failed(.daemonCrashed), .failed(.stopped(.deadline)), .failed(.stopped(.constraintLost)),
    .failed(.stopped(.logout)), .failed(.stopped(.user)), .failed(.stopped(.shutdown)),
  ]

  private static func records(of outcomes: [Outcome]) throws -> [RefreshRecord] {
    let todo = try app("todo")
    return zip(1..., outcomes).map { number, outcome in
      let reason: StopReason? = if case .failed(.stopped(let reason)) = outcome { reason } else { nil }
      let startedAt = Instant(microseconds: Int64(number) * 1_000_000)
      return RefreshRecord(
        id: RefreshID(start: 1, number: UInt32(number)), app: todo,
        trigger: Trigger.released[number % Trigger.released.count], startedAt: startedAt,
        endedAt: startedAt.advanced(by: .microseconds(1_234_567)), outcome: outcome, stopReason: reason,
        extraCompletions: number % 3,
        tasks: (0..<(number % 3)).map { index in
          TaskRecord(
            name: ["pull", "push"][index], outcome: outcome, duration: .milliseconds(1_200), cpu: .milliseconds(7),
            message: "näher 🛰️, it's \"done\"")
        })
    }
  }

  @Test(arguments: releases)
  func `a released file loads with its exact values`(release: Release) async throws {
    let scratch = try ScratchDirectory()
    try scratch.sql(String(decoding: release.dump, as: UTF8.self))

    var now = Self.clock
    now.now = now.now.advanced(by: .minutes(1))
    let (store, loaded) = try RefreshStore.open(scratch, clock: now)
    #expect(loaded.damaged == nil)
    #expect(loaded.start == 2)
    #expect(loaded.previous == .sameBoot)
    #expect(loaded.states == (try release.states()))
    #expect(loaded.device == release.device)
    #expect(loaded.learned == (try release.learned()))
    #expect(loaded.transfers == (try release.transfers()))
    #expect(loaded.lastTransfer == UInt64(loaded.transfers.count))
    #expect(loaded.validators == (try release.validators()))
    #expect(loaded.pushes == (try release.pushes()))
    #expect(loaded.lastPush == loaded.pushes.values.joined().map(\.id.number).max() ?? 0)
    let todo = try app("todo")
    #expect(try await store.openings(of: todo) == release.openings.reversed())
    let refreshes = try release.records().reversed().map { StoredRefresh($0, wallOffset: Self.clock.wallOffset) }
    #expect(try await store.history(of: todo, limit: .max) == refreshes)
    let waits = try release.waits().reversed().map { StoredWait($0, wallOffset: Self.clock.wallOffset) }
    #expect(try await store.waits(of: todo, limit: .max) == waits)
    let dropped = try release.dropped().reversed().map { StoredDroppedPush($0, wallOffset: Self.clock.wallOffset) }
    #expect(try await store.droppedPushes(of: todo, limit: .max) == dropped)
    #expect(try scratch.number("PRAGMA user_version") == Int64(Schema.version))
  }

  @Test func `what is written today fits the newest fixture`() async throws {
    let (today, fixture) = (try ScratchDirectory(), try ScratchDirectory())
    let (store, _) = try RefreshStore.open(today, clock: Self.clock)
    var batch = Batch(
      Self.clock, states: try Self.statesOfSchema15(), device: Self.deviceOfSchema3, learned: try Self.learned(),
      openings: try Self.openingsMade(),
      records: try Self.recordsOfSchema7(), waits: try Self.waits(for: Hold.Name.released))
    batch.transfers.whole = try Self.transfersOfSchema13()
    batch.validators = try Self.validatorsOfSchema12().mapValues { $0.mapValues(Optional.some) }
    for (app, pushes) in try Self.pushes() {
      for push in pushes { batch.pushes.changed[push.id] = .kept(app, push) }
    }
    (batch.history.droppedPushes, batch.pushes.arrived) = (try Self.droppedPushes(), try Self.seen())
    try await store.save(batch, durably: true)
    try fixture.sql(String(decoding: PackageResources.schema_15_sql, as: UTF8.self))
    for query in [
      "SELECT group_concat(sql) FROM (SELECT sql FROM sqlite_schema ORDER BY name)",
      "SELECT group_concat(t) FROM (SELECT trigger || outcome || ifnull(cause, '-') || ifnull(stop_reason, '-') AS t FROM refresh ORDER BY id)",
      "SELECT group_concat(t) FROM (SELECT ifnull(held_since_us, '-') || ifnull(is_held_told, '-') AS t FROM app ORDER BY id)",
      "SELECT group_concat(t) FROM (SELECT ifnull(streak_failures, '-') || ifnull(is_streak_told, '-') || skips_all AS t FROM app ORDER BY id)",
      "SELECT waiting_holds || one_shot_reason || strikes_us FROM app WHERE id = 'org.example.todo'",
      "SELECT group_concat(holds) FROM (SELECT holds FROM wait ORDER BY id)",
      // The bytes of the learners have a version of their own, newer than the fixture's.
      "SELECT pause || pause_until_us || budget || day FROM device",
      "SELECT planned_us FROM app WHERE id = 'org.example.todo'",
      "SELECT group_concat(wall_us || ifnull(ended_wall_us, '-') || is_observed) FROM (SELECT * FROM opening ORDER BY id)",
      "SELECT group_concat(t) FROM (SELECT is_forced || ifnull(running_is_forced, '-') AS t FROM app ORDER BY id)",
      "SELECT group_concat(t) FROM (SELECT ifnull(kept_unit, '-') AS t FROM app ORDER BY id)",
      "SELECT group_concat(t) FROM (SELECT ifnull(is_owner_present, '-') AS t FROM app ORDER BY id)",
      "SELECT count(*) FROM learned",
      "SELECT group_concat(fresh_until_us) || group_concat(running_session) FROM app",
      "SELECT group_concat(t) FROM (SELECT ifnull(running_push, '-') || pushed_us || is_terminated AS t FROM app ORDER BY id)",
      "SELECT group_concat(t) FROM (SELECT ifnull(content_id, '-') || ifnull(merged, '-') AS t FROM refresh ORDER BY id)",
      """
      SELECT group_concat(id || payload || ifnull(content_id, '-') || urgency || arrived_us || earliest_us || attempts || merged)
      FROM (SELECT * FROM push ORDER BY id)
      """,
      """
      SELECT group_concat(id || ifnull(content_id, '-') || arrived_wall_us || dropped_wall_us || merged)
      FROM (SELECT * FROM push_dropped ORDER BY id)
      """,
      "SELECT group_concat(message || wall_us) FROM (SELECT * FROM push_seen ORDER BY id)",
      """
      SELECT group_concat(id || stage || ifnull(stage_word, '-') || ifnull(stage_us, '-') || ifnull(needed, '-') || ifnull(owner, '-') || ifnull(flatpak, '-')
        || network || ifnull(description, '-') || ifnull(resume_url || resume_etag || tus_url || durable, '-'))
      FROM (SELECT * FROM transfer ORDER BY id)
      """,
      "SELECT group_concat(t) FROM (SELECT url || ifnull(etag, '-') || ifnull(digest, '-') || ifnull(final_url, '-') AS t FROM validator ORDER BY url)",
      "SELECT group_concat(t) FROM (SELECT name || ifnull(bytes, '-') AS t FROM task ORDER BY refresh, position)",
    ] {
      #expect(try today.text(query) == fixture.text(query))
    }
  }
}
