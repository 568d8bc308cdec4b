import RefreshEngine
import Testing

@testable import RefreshStore

/// Transfers outlive the daemon and the boot, whole and with what became of them.
@Suite struct TransferTests {
  @Test(arguments: 1...20)
  func `transfers come back as they were saved, changed and forgotten`(seed: UInt64) async throws {
    let scratch = try ScratchDirectory()
    var values = SeededValues(seed: seed)
    let (store, _) = try RefreshStore.open(scratch)
    var expected: [TransferID: StoredTransfer] = [:]
    for turn in 0..<4 {
      var batch = Batch(.morning)
      for id in expected.keys.sorted() {
        switch Int.random(in: 0...3, using: &values) {
        case 0:
          batch.transfers.removed.insert(id)
          expected[id] = nil
        case 1:
          var policy = try #require(expected[id]).state.policy
          // As when a late clock is set.
          policy.enqueuedAt = policy.enqueuedAt - .minutes(Int64(turn))
          let state = values.transferState(policy)
          batch.transfers.states[id] = state
          expected[id]?.state = state
        case 2:
          let progress = values.transferProgress()
          batch.transfers.progress[id] = progress
          expected[id]?.progress = progress
        default: continue
        }
      }
      for number in 1...10 {
        let id = TransferID(UInt64(turn * 10 + number))
        let transfer = values.transfer(of: try app("a\(number % 3)"))
        batch.transfers.whole[id] = transfer
        expected[id] = transfer
      }
      try await store.save(batch, durably: .random(using: &values))
    }
    let (_, loaded) = try RefreshStore.open(scratch)
    #expect(loaded.transfers == expected, "seed \(seed)")
    #expect(loaded.lastTransfer == 40)
  }

  @Test func `a number is known for ever, also when its transfer is forgotten`() async throws {
    let scratch = try ScratchDirectory()
    let (store, fresh) = try RefreshStore.open(scratch)
    #expect(fresh.lastTransfer == 0)
    var batch = Batch(.morning)
    batch.transfers.whole[TransferID(7)] = .made(of: try app("todo"))
    try await store.save(batch, durably: true)
    var next = Batch(.morning)
    next.transfers.removed = [TransferID(7)]
    try await store.save(next, durably: true)
    let (_, loaded) = try RefreshStore.open(scratch)
    #expect(loaded.transfers.isEmpty)
    #expect(loaded.lastTransfer == 7)
  }

  @Test func `instants keep their place in time after a reboot`() async throws {
    let scratch = try ScratchDirectory()
    let saved = BootClock.morning
    var waiting = StoredTransfer.made(of: try app("todo"))
    waiting.state.policy.enqueuedAt = saved.now - .minutes(10)
    waiting.state.stage = .waiting(from: saved.now + .minutes(5))
    var ended = waiting
    ended.state.stage = .ended(.done, at: saved.now - .minutes(1))
    let (store, _) = try RefreshStore.open(scratch)
    var batch = Batch(saved)
    batch.transfers.whole = [TransferID(1): waiting, TransferID(2): ended]
    try await store.save(batch, durably: true)

    let now = BootClock.boot("b", age: .minutes(1), wallNow: saved.wall + .minutes(2))
    let (reopened, loaded) = try RefreshStore.open(scratch, clock: now)
    #expect(loaded.transfers[TransferID(1)]?.state.policy.enqueuedAt == now.now - .minutes(12))
    #expect(loaded.transfers[TransferID(1)]?.state.stage == .waiting(from: now.now + .minutes(3)))
    #expect(loaded.transfers[TransferID(2)]?.state.stage == .ended(.done, at: now.now - .minutes(3)))

    // The mapped state is on the disk as it was loaded: another start in this boot finds the same.
    _ = reopened
    let (_, again) = try RefreshStore.open(scratch, clock: now)
    #expect(again.transfers == loaded.transfers)
  }

  @Test func `what an app remembers of a URL comes back until it is forgotten`() async throws {
    let scratch = try ScratchDirectory()
    let (store, _) = try RefreshStore.open(scratch)
    let (todo, mail) = (try app("todo"), try app("mail"))
    let weak = Validator(
      finalURL: "https://cdn.example.org/a", etag: #"W/"1""#, lastModified: "Sat, 21 Nov 2026 20:00:00 GMT", digest: nil
    )
    var batch = Batch(.morning)
    batch.validators = [
      todo: ["https://example.org/a": weak, "https://example.org/b": Validator(digest: "00")],
      mail: ["https://example.org/a": Validator()],
    ]
    try await store.save(batch, durably: false)
    var next = Batch(.morning)
    next.validators = [todo: ["https://example.org/b": nil], mail: ["https://example.org/a": weak]]
    try await store.save(next, durably: false)
    let (_, loaded) = try RefreshStore.open(scratch)
    #expect(loaded.validators == [todo: ["https://example.org/a": weak], mail: ["https://example.org/a": weak]])
  }

  /// The result of a batch that could not be saved, and of the next batch: what is left of the first.
  @Test func `later changes take the place of those that could not be saved`() throws {
    let todo = try app("todo")
    var first = StoredTransfer.made(of: todo)
    first.request.path = "/first"
    var waits = TransferValues()
    waits.whole = [TransferID(1): first, TransferID(2): first]
    waits.states[TransferID(3)] = first.state
    waits.progress[TransferID(3)] = first.progress

    var paused = first.state
    paused.stage = .paused
    var later = TransferValues()
    later.states[TransferID(1)] = paused
    later.removed = [TransferID(2)]
    later.whole[TransferID(3)] = first

    let both = later.following(waits)
    #expect(both.whole == [TransferID(1): first, TransferID(3): first])
    #expect(both.states == [TransferID(1): paused])
    #expect(both.progress.isEmpty)
    #expect(both.removed == [TransferID(2)])
  }
}

extension StoredTransfer {
  /// A plain download of an app.
  static func made(of app: AppID) -> StoredTransfer {
    StoredTransfer(
      state: TransferState(
        policy: TransferPolicy(
          session: TransferSession(app: app, name: "default"), host: "example.org", enqueuedAt: BootClock.morning.now)),
      request: TransferRequest(.download, url: "https://example.org/a", path: "/home/anna/a"))
  }
}
