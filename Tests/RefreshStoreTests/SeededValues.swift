import RefreshEngine
import RefreshStore

/// Values of every kind that the store keeps, drawn from a seed: the same seed gives the same values.
struct SeededValues: RandomNumberGenerator {
  private var position: UInt64

  init(seed: UInt64) { position = seed }

  // SplitMix64.
  mutating func next() -> UInt64 {
    position &+= 0x9e37_79b9_7f4a_7c15
    var mixed = position
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }

  mutating func state() -> AppState {
    var state = AppState(
      isForeground: .random(using: &self), isLoggedOut: .random(using: &self),
      overrides: Overrides(
        foregroundInterval: maybe { $0.interval() }, backgroundInterval: maybe { $0.backgroundInterval() }),
      lastStart: maybe { $0.instant() }, freshAt: maybe { $0.instant() },
      request: maybe { Request(trigger: $0.element(Trigger.allCases), earliest: $0.instant()) },
      running: maybe { values in
        Started(
          id: values.id(), trigger: values.element(Trigger.allCases), at: values.instant(),
          session: values.maybe { $0.text() }, push: values.maybe { $0.pushID() })
      })
    state.isDisabled = .random(using: &self)
    state.seenAt = maybe { $0.instant() }
    state.skippedUntil = maybe { $0.instant() }
    state.failures = .random(in: 0 ..< .max, using: &self)
    state.strikes = (0..<Int.random(in: 0...3, using: &self)).map { _ in instant() }
    state.oneShot = maybe { OneShot(earliest: $0.instant(), reason: $0.text()) }
    state.isStaleReported = .random(using: &self)
    state.episode = maybe { HeldEpisode(since: $0.instant()) }
    state.episode?.isReported = .random(using: &self)
    state.keptUnit = maybe { $0.text() }
    state.streak = maybe { FailureStreak(count: .random(in: 1...(.max), using: &$0)) }
    state.streak?.isReported = .random(using: &self)
    state.skipsAll = .random(using: &self)
    state.wasAttached = .random(using: &self)
    state.isOwnerPresent = maybe { .random(using: &$0) }
    state.planned = maybe { $0.instant() }
    state.grid = maybe { $0.instant() }
    state.waiting = maybe { Waiting(since: $0.instant(), holds: $0.holds()) }
    state.freshUntil = maybe { $0.instant() }
    state.isTerminated = .random(using: &self)
    state.isForced = .random(using: &self)
    state.pushedAt = (0..<Int.random(in: 0...3, using: &self)).map { _ in instant() }
    return state
  }

  mutating func push(_ id: PushID) -> Push {
    var push = Push(
      id: id, payload: text(), contentID: maybe { $0.text() }, urgency: element(Urgency.allCases), at: instant())
    push.earliest = instant()
    push.attempts = .random(in: 0...9, using: &self)
    push.merged = .random(in: 0...9, using: &self)
    return push
  }

  private mutating func pushID() -> PushID { PushID(.random(in: 1...(1 << 60), using: &self)) }

  mutating func transfer(of app: AppID) -> StoredTransfer {
    var request = TransferRequest(element(TransferRequest.Direction.allCases), url: text(), path: text())
    request.description = maybe { $0.text() }
    request.sha256 = maybe { $0.text() }
    request.length = maybe { $0.size() }
    request.maxRate = maybe { $0.size() }
    request.isPost = .random(using: &self)
    request.isTus = .random(using: &self)
    request.headersFile = maybe { $0.text() }
    request.credentialFile = maybe { $0.text() }
    request.usesNetrc = .random(using: &self)
    request.notice = maybe { $0.text() }
    request.owner = maybe { _ in .random(in: 0 ... .max) }
    request.flatpak = request.owner.map { "org.example.app\($0)" }
    var policy = TransferPolicy(
      session: TransferSession(app: app, name: text()), host: text(), network: element(NetworkConstraint.allCases),
      enqueuedAt: instant())
    policy.priority = .random(in: -100...100, using: &self)
    return StoredTransfer(state: transferState(policy), request: request, progress: transferProgress())
  }

  mutating func transferState(_ policy: TransferPolicy) -> TransferState {
    let stages: [TransferState.Stage] = [
      .waiting(from: instant()), .transferring, .stopping(element(TransferStop.allCases)), .paused,
      .noSpace(needed: size()), .ended(element(TransferResult.allCases), at: instant()),
    ]
    var state = TransferState(policy: policy, stage: element(stages))
    state.hasBegun = .random(using: &self)
    state.failures = .random(in: 0...15, using: &self)
    state.isDelivered = .random(using: &self)
    return state
  }

  mutating func transferProgress() -> TransferProgress {
    var progress = TransferProgress()
    progress.attempts = size()
    progress.message = maybe { $0.text() }
    progress.bytes = size()
    progress.total = maybe { $0.size() }
    progress.sha256 = maybe { $0.text() }
    progress.resume = maybe { values in
      var resume = ResumeData(durable: values.size(), boot: values.text())
      resume.url = values.maybe { $0.text() }
      resume.etag = values.maybe { $0.text() }
      resume.lastModified = values.maybe { $0.text() }
      resume.date = values.maybe { $0.text() }
      resume.total = values.maybe { $0.size() }
      resume.tusURL = values.maybe { $0.text() }
      resume.partMark = values.maybe { Int64(bitPattern: $0.next()) }
      return resume
    }
    return progress
  }

  private mutating func size() -> Int64 { .random(in: 0...(1 << 50), using: &self) }

  mutating func wait(of app: AppID) -> WaitRecord {
    let since = instant()
    return WaitRecord(app: app, since: since, until: since + duration(), holds: holds())
  }

  mutating func record(of app: AppID, id: RefreshID) -> RefreshRecord {
    let start = instant()
    var record = RefreshRecord(
      id: id, app: app, trigger: element(Trigger.allCases), startedAt: start, endedAt: start.advanced(by: duration()),
      outcome: outcome(), stopReason: maybe { $0.element(StopReason.allCases) },
      extraCompletions: .random(in: 0...3, using: &self),
      tasks: (0..<Int.random(in: 0...3, using: &self)).map { _ in
        TaskRecord(name: text(), outcome: outcome(), duration: duration(), cpu: duration(), message: text())
      })
    record.push = maybe { DeliveredPush(contentID: $0.maybe { $0.text() }, merged: .random(in: 0...9, using: &$0)) }
    return record
  }

  mutating func id() -> RefreshID {
    RefreshID(start: .random(in: 1 ... .max, using: &self), number: .random(in: 1 ... .max, using: &self))
  }

  private mutating func holds() -> [Hold.Name] {
    (0..<Int.random(in: 0...3, using: &self)).map { _ in element(Hold.Name.allCases) }
  }

  private mutating func instant() -> Instant {
    Instant(microseconds: .random(in: -(1 << 50)...(1 << 50), using: &self))
  }

  private mutating func duration() -> Duration { .microseconds(Int64.random(in: 0...(1 << 40), using: &self)) }

  private mutating func interval() -> Interval {
    switch Int.random(in: 0...2, using: &self) {
    case 0: .never
    case 1: .minimum
    default: .every(duration())
    }
  }

  private mutating func backgroundInterval() -> BackgroundInterval {
    switch Int.random(in: 0...2, using: &self) {
    case 0: .never
    case 1: .auto()
    default: .every(duration())
    }
  }

  private mutating func outcome() -> Outcome {
    let code = Int32.random(in: .min ... .max, using: &self)
    let causes: [Cause] = [
      .exit(code), .temporary(code), .signal(code), .spawn(text()), .reported(text()),
      .notRun(after: text()), .stopped(element(StopReason.allCases)), .daemonCrashed, .lostClient, .outOfMemory,
    ]
    return element([.newData, .noData] + causes.map(Outcome.failed))
  }

  /// Texts that trip up a careless layer: empty, quoted, with a NUL, beyond ASCII, long.
  private mutating func text() -> String {
    element([
      "", "pull", "it's \"quoted\"; DROP TABLE app;", "nul\0inside", "näher 🛰️", String(repeating: "long ", count: 999),
    ])
  }

  private mutating func element<Element>(_ elements: [Element]) -> Element {
    elements[Int.random(in: elements.indices, using: &self)]
  }

  private mutating func maybe<Result>(_ make: (inout SeededValues) -> Result) -> Result? {
    Bool.random(using: &self) ? make(&self) : nil
  }
}
