import Testing

@testable import RefreshEngine
@testable import RefreshStore

/// All that a file holds: a value for each column, and for each word that a column may have.
///
/// The values of a released schema stay. Those of the next one begin as a copy, with what the migration adds.
struct StoredValues {
  static let clock = BootClock(
    bootID: "7f3c1a52-8f0e-4c5b-9d0e-3a1b2c3d4e5f", now: Instant(microseconds: 86_400_000_001),
    wallOffset: .microseconds(1_750_000_000_123_456))

  var states: [AppID: AppState] = [:]
  var device = DeviceState()
  var learned: [AppID: AppHabits] = [:]
  var transfers: [TransferID: StoredTransfer] = [:]
  var validators: [AppID: [String: Validator]] = [:]
  var pushes: [AppID: [Push]] = [:]
  /// The messages that were accepted: a push, and a push that woke no app.
  var seen: [ArrivedPush] = []
  var droppedPushes: [DroppedPush] = []
  var refreshes: [RefreshRecord] = []
  var waits: [WaitRecord] = []
  var openings: [Opening] = []
  /// What the openings make of the file.
  var storedOpenings: [StoredOpening] = []

  /// The batch that saves all of it.
  var batch: Batch {
    var batch = Batch(
      Self.clock, states: states, device: device, learned: learned, openings: openings, records: refreshes, waits: waits
    )
    batch.transfers.whole = transfers
    batch.validators = validators.mapValues { $0.mapValues(Optional.some) }
    for (app, pushes) in pushes {
      for push in pushes { batch.changes.pushes[push.id] = .kept(app, push) }
    }
    (batch.changes.history.droppedPushes, batch.arrived) = (droppedPushes, seen)
    return batch
  }

  /// The values of schema 16.
  ///
  /// A word that is newer than the schema is left out here.
  static func ofSchema16() throws -> StoredValues {
    let (todo, mail, news) = (try app("todo"), try app("mail"), try app("news"))
    var values = StoredValues()
    values.states = [todo: stateOfTodo, mail: stateOfMail, news: AppState()]
    values.states[news]?.oneShot = OneShot(earliest: instant(92_000_000_000), reason: "")

    values.device = DeviceState(pause: .until(instant(93_000_000_000)))
    values.device.learnings = DeviceHabits(budget: Budget(profile: .thrifty))
    values.device.day = 20_274
    var learned = AppHabits()
    learned.opened(at: LocalTime(minutes: 1_440 * 20_274 + 720.5))
    learned.spent(duration: 1.5, cpu: 0.25, bytes: 1e6, metered: true)
    values.learned = [todo: learned]

    values.transfers = transfers(of: todo)
    values.validators = [
      news: [
        "https://example.org/feed": Validator(etag: "W/\"1\"", lastModified: "Sat, 21 Nov 2026 20:00:00 GMT"),
        "https://example.org/other": Validator(digest: "00"),
      ]
    ]
    values.validators[news]?["https://example.org/feed"]?.finalURL = "https://cdn.example.org/näher"

    let pushes = pushes
    values.pushes = [todo: Array(pushes.prefix(3)), news: Array(pushes.suffix(1))]
    values.seen = [
      ArrivedPush(id: PushID(90), app: todo, push: nil, message: "ntfy/home/it's"),
      ArrivedPush(id: PushID(91), app: news, push: nil, message: "mqtt/broker/1/näher"),
    ]
    values.droppedPushes = [
      DroppedPush(
        id: PushID(1), app: todo, contentID: "näher 🛰️", arrivedAt: instant(-1_000_000),
        droppedAt: instant(2_000_000), merged: 9),
      DroppedPush(
        id: PushID(2), app: todo, contentID: nil, arrivedAt: instant(1_000_000), droppedAt: instant(2_000_000),
        merged: 0),
    ]

    values.refreshes = refreshes(of: todo)
    values.waits = zip(1..., Hold.Name.allCases).map { number, hold in
      let since = instant(Int64(number) * 1_000_000)
      return WaitRecord(app: todo, since: since, until: since + .milliseconds(900), holds: [hold, .network])
    }
    values.openings = [
      Opening(app: todo, at: instant(81_000_000_000)),
      Opening(app: todo, at: instant(82_000_000_000), change: .began(isObserved: true)),
      Opening(app: todo, at: instant(83_000_000_000), change: .ended),
    ]
    values.storedOpenings = [
      StoredOpening(wallMicroseconds: clock.wall(instant(81_000_000_000)), isObserved: false),
      StoredOpening(wallMicroseconds: clock.wall(instant(82_000_000_000)), isObserved: true),
    ]
    values.storedOpenings[1].endWallMicroseconds = clock.wall(instant(83_000_000_000))
    return values
  }

  private static func instant(_ microseconds: Int64) -> Instant { Instant(microseconds: microseconds) }

  private static let stateOfTodo = {
    var todo = AppState(
      isForeground: true, isLoggedOut: true,
      overrides: Overrides(foregroundInterval: .every(.minutes(1)), backgroundInterval: .auto()),
      lastStart: instant(80_000_000_000), freshAt: instant(-5_000_000),
      request: Request(trigger: .catchUp, earliest: instant(90_000_000_000)),
      running: Started(
        id: RefreshID(start: 3, number: 4_000_000_000), trigger: .push, at: instant(86_399_000_000)))
    todo.running?.session = "photos, the \"first\" 🛰️"
    todo.running?.push = PushID(3)
    todo.running?.isForced = true
    todo.isDisabled = true
    todo.isOwnerPresent = true
    todo.wasAttached = true
    todo.seenAt = instant(-7_000_000)
    todo.planned = instant(94_000_000_000)
    todo.grid = instant(79_500_000_000)
    todo.skippedUntil = instant(91_000_000_000)
    todo.skipsAll = true
    todo.failures = 4
    todo.streak = FailureStreak(count: 1)
    todo.strikes = [-6_000_000, 79_000_000_000, 80_000_000_000].map(instant)
    todo.pushedAt = [-1, 78_000_000_000, 86_399_000_000].map(instant)
    todo.oneShot = OneShot(earliest: instant(92_000_000_000), reason: "näher 🛰️, it's \"soon\"")
    todo.waiting = Waiting(since: instant(86_399_500_000), holds: Hold.Name.allCases)
    todo.episode = HeldEpisode(since: instant(-8_000_000))
    return todo
  }()

  private static let stateOfMail = {
    var mail = AppState(overrides: Overrides(backgroundInterval: .never))
    mail.isStaleReported = true
    mail.isTerminated = true
    mail.isForced = true
    mail.isOwnerPresent = false
    mail.freshUntil = instant(95_000_000_000)
    mail.episode = HeldEpisode(since: instant(77_000_000_000))
    mail.episode?.isReported = true
    mail.keptUnit = "syncthing.service of user 1000"
    mail.streak = FailureStreak(count: 7)
    mail.streak?.isReported = true
    return mail
  }()

  /// A transfer for each stage, stop reason and result.
  private static func transfers(of todo: AppID) -> [TransferID: StoredTransfer] {
    let stages: [TransferState.Stage] =
      [.waiting(from: instant(-1)), .transferring, .paused, .noSpace(needed: 1 << 33)]
      + TransferStop.allCases.map { .stopping($0) }
      + TransferResult.allCases.map { .ended($0, at: instant(96_000_000_000)) }
    var transfers: [TransferID: StoredTransfer] = [:]
    for (number, stage) in zip(1..., stages) {
      var policy = TransferPolicy(
        session: TransferSession(app: todo, name: "photos"), host: "example.org:8443",
        network: NetworkConstraint.allCases[number % 4], enqueuedAt: instant(97_000_000_000))
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

  private static let plainRequest = TransferRequest(
    .download, url: "https://anna:secret@example.org:8443/a?token=1", path: "/home/anna/it's")

  private static let fullRequest = {
    var request = TransferRequest(.upload, url: "http://example.org:8443/a", path: "/home/anna/b")
    request.description = "näher 🛰️"
    request.sha256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
    (request.length, request.maxRate) = (1 << 40, 1 << 20)
    (request.isPost, request.isTus, request.usesNetrc) = (true, true, true)
    (request.headersFile, request.credentialFile) = ("/home/anna/headers", "/home/anna/credential")
    request.notice = "All is there"
    (request.owner, request.flatpak) = (1_000, "org.example.Todo")
    return request
  }()

  private static let begunProgress = {
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

  /// A push of each urgency.
  private static var pushes: [Push] {
    zip(UInt64(3)..., Urgency.allCases).map { number, urgency in
      var push = Push(
        id: PushID(number), payload: #"{"aps":{"content-available":1},"it's":"näher 🛰️"}"#,
        contentID: number.isMultiple(of: 2) ? nil : "it's \(number)", urgency: urgency,
        at: instant(98_000_000_000 + Int64(number)))
      push.earliest = instant(Int64(number) - 99_000_000_000)
      (push.attempts, push.merged) = (Int32(number) - 3, Int32(number))
      return push
    }
  }

  private static let outcomes: [Outcome] =
    [
      .newData, .noData, .failed(.exit(1)), .failed(.temporary(75)), .failed(.signal(11)),
      .failed(.spawn("cannot run /usr/bin/nothing: No such file or directory")), .failed(.reported("no route")),
      .failed(.notRun(after: "pull")), .failed(.daemonCrashed), .failed(.lostClient), .failed(.outOfMemory),
    ] + StopReason.allCases.map { .failed(.stopped($0)) }

  /// A refresh for each outcome, with all triggers; then two with other tasks.
  private static func refreshes(of todo: AppID) -> [RefreshRecord] {
    var records = zip(1..., outcomes).map { number, outcome in
      let reason: StopReason? = if case .failed(.stopped(let reason)) = outcome { reason } else { nil }
      let startedAt = instant(Int64(number) * 1_000_000)
      return RefreshRecord(
        id: RefreshID(start: 1, number: UInt32(number)), app: todo,
        trigger: Trigger.allCases[number % Trigger.allCases.count], startedAt: startedAt,
        endedAt: startedAt.advanced(by: .microseconds(1_234_567)), outcome: outcome, stopReason: reason,
        extraCompletions: number % 3,
        tasks: (0..<(number % 3)).map { index in
          TaskRecord(
            name: ["pull", "push"][index], outcome: outcome, duration: .milliseconds(1_200), cpu: .milliseconds(7),
            message: "näher 🛰️, it's \"done\"")
        })
    }
    records[0].push = DeliveredPush(contentID: "näher 🛰️", merged: 7)
    records[1].push = DeliveredPush(contentID: nil, merged: 0)
    records[records.count - 1].tasks = [
      TaskRecord(
        name: "pull", outcome: .newData, duration: .seconds(1), cpu: .milliseconds(7), message: "", bytes: 1 << 33)
    ]
    let at = instant(86_399_900_000)
    records.append(
      RefreshRecord(
        id: RefreshID(start: 1, number: 90), app: todo, trigger: .reported, startedAt: at, endedAt: at,
        outcome: .newData))
    return records
  }
}
