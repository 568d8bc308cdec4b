import RefreshEngine
import Testing

@testable import RefreshStore

/// Pushes outlive the daemon and the boot, and no message is taken twice.
@Suite struct PushTests {
  @Test(arguments: 1...20)
  func `pushes come back as they were saved, changed and forgotten`(seed: UInt64) async throws {
    let scratch = try ScratchDirectory()
    var values = SeededValues(seed: seed)
    let (store, _) = try RefreshStore.open(scratch)
    var expected: [PushID: (app: AppID, push: Push)] = [:]
    for turn in 0..<4 {
      var batch = Batch(.morning)
      for id in expected.keys.sorted() where Bool.random(using: &values) {
        let app = try #require(expected[id]).app
        let push = Bool.random(using: &values) ? values.push(id) : nil
        batch.changes.pushes[id] = push.map { .kept(app, $0) } ?? .gone
        expected[id] = push.map { (app, $0) }
      }
      for number in 1...10 {
        let id = PushID(UInt64(turn * 10 + number))
        let (app, push) = (try app("a\(number % 3)"), values.push(id))
        batch.arrived.append(ArrivedPush(id: id, app: app, push: push))
        expected[id] = (app, push)
      }
      #expect(try await store.save(batch, durably: .random(using: &values)).isEmpty)
    }
    let (_, loaded) = try RefreshStore.open(scratch)
    let queues = Dictionary(grouping: expected.values) { $0.app }
    #expect(loaded.pushes == queues.mapValues { $0.map(\.push).sorted { $0.id < $1.id } }, "seed \(seed)")
    #expect(loaded.lastPush == 40)
  }

  @Test func `instants keep their place in time after a reboot`() async throws {
    let scratch = try ScratchDirectory()
    let (saved, todo) = (BootClock.morning, try app("todo"))
    var push = Push(id: PushID(1), payload: "{}", contentID: nil, urgency: .normal, at: saved.now - .minutes(10))
    push.earliest = saved.now + .minutes(5)
    var state = AppState()
    state.pushedAt = [saved.now - .minutes(20), saved.now - .minutes(10)]
    let (store, _) = try RefreshStore.open(scratch)
    var batch = Batch(saved, states: [todo: state])
    batch.changes.pushes[push.id] = .kept(todo, push)
    try await store.save(batch, durably: true)

    let now = BootClock.boot("b", age: .minutes(1), wallNow: saved.wall + .minutes(2))
    let (reopened, loaded) = try RefreshStore.open(scratch, clock: now)
    let found = try #require(loaded.pushes[todo]?.first)
    #expect((found.arrivedAt, found.earliest) == (now.now - .minutes(12), now.now + .minutes(3)))
    #expect(loaded.states[todo]?.pushedAt == [now.now - .minutes(22), now.now - .minutes(12)])

    // The mapped state is on the disk as it was loaded: another start in this boot finds the same.
    _ = reopened
    let (_, again) = try RefreshStore.open(scratch, clock: now)
    #expect(again.pushes == loaded.pushes)
  }

  /// The messages of pushes in order, each with whether the source says that it is new, and which of them are taken.
  static let messages: [(sent: [(id: String?, isNew: Bool)], taken: [Int])] = [
    ([("a", false), ("b", false), ("a", false)], [0, 1]),
    ([("a", false), ("a", true), ("a", false)], [0, 1]),
    ([(nil, false), (nil, false)], [0, 1]),
  ]

  @Test(arguments: messages, [true, false])
  func `a message is taken once`(_ messages: (sent: [(id: String?, isNew: Bool)], taken: [Int]), together: Bool)
    async throws
  {
    let scratch = try ScratchDirectory()
    let (todo, mail) = (try app("todo"), try app("mail"))
    let (store, _) = try RefreshStore.open(scratch)
    let arrived = messages.sent.enumerated().map { ArrivedPush(.made(UInt64($0 + 1)), of: todo, $1.id, $1.isNew) }
    var known: Set<PushID> = []
    for part in together ? [arrived] : arrived.map({ [$0] }) {
      var batch = Batch(.morning)
      batch.arrived = part
      known.formUnion(try await store.save(batch, durably: true))
    }
    let taken = messages.taken.map { PushID(UInt64($0 + 1)) }
    #expect(known == Set(arrived.map(\.id)).subtracting(taken))
    // Ids are unique per app.
    var batch = Batch(.morning)
    batch.arrived = [ArrivedPush(.made(9), of: mail, "a")]
    #expect(try await store.save(batch, durably: true).isEmpty)
    let (_, loaded) = try RefreshStore.open(scratch)
    #expect(loaded.pushes[todo]?.map(\.id) == taken)
    #expect(loaded.pushes[mail]?.map(\.id) == [PushID(9)])
  }

  @Test func `a message whose push was refused after all counts as never taken`() async throws {
    let scratch = try ScratchDirectory()
    let todo = try app("todo")
    let (store, _) = try RefreshStore.open(scratch)
    var batch = Batch(.morning)
    batch.arrived = [ArrivedPush(.made(1), of: todo, "a"), ArrivedPush(.made(2), of: todo, "b")]
    #expect(try await store.save(batch, durably: true).isEmpty)
    batch.unseen = [todo: ["a"]]
    batch.arrived = [ArrivedPush(.made(3), of: todo, "a"), ArrivedPush(.made(4), of: todo, "b")]
    #expect(try await store.save(batch, durably: true) == [PushID(4)])
  }

  @Test func `a message is known for thirty days, and the last thousand of an app at least`() async throws {
    let scratch = try ScratchDirectory()
    let todo = try app("todo")
    let (store, _) = try RefreshStore.open(scratch)
    func isTaken(_ message: String, after days: Int64) async throws -> Bool {
      var batch = Batch(.morning)
      batch.wallOffset += .hours(days * 24)
      batch.arrived = [ArrivedPush(id: PushID(1), app: todo, push: nil, message: message)]
      return try await store.save(batch, durably: false).isEmpty
    }
    #expect(try await isTaken("a", after: 0))
    #expect(try await !isTaken("a", after: 29))
    #expect(try await isTaken("a", after: 31))
    #expect(try await !isTaken("a", after: 32))
    for number in 1...1_999 { #expect(try await isTaken("\(number)", after: 32)) }
    #expect(try await !isTaken("1000", after: 32))
    #expect(try await isTaken("a", after: 32))
    #expect(try scratch.number("SELECT count(*) FROM push_seen") < 1_100)
  }

  @Test func `the history has the last pushes that were dropped, newest first`() async throws {
    let scratch = try ScratchDirectory()
    let todo = try app("todo")
    let (store, _) = try RefreshStore.open(scratch)
    let dropped = (1...300).map { number in
      DroppedPush(
        id: PushID(UInt64(number)), app: todo, contentID: "\(number)",
        arrivedAt: BootClock.morning.now + .seconds(number), droppedAt: BootClock.morning.now + .minutes(number),
        merged: Int32(number))
    }
    for push in dropped {
      var batch = Batch(.morning)
      batch.changes.history.droppedPushes = [push]
      try await store.save(batch, durably: false)
    }
    let expected = dropped.reversed().map { StoredDroppedPush($0, wallOffset: BootClock.morning.wallOffset) }
    #expect(try await store.droppedPushes(of: todo, limit: 7) == Array(expected.prefix(7)))
    let kept = try await store.droppedPushes(of: todo, limit: .max)
    #expect(kept == Array(expected.prefix(kept.count)))
    #expect((200...220).contains(kept.count))
    #expect(try await store.droppedPushes(of: app("mail"), limit: 7).isEmpty)
  }

  /// The sender was told that the push was refused, so it must not appear with the next save.
  @Test func `what arrived and could not be saved is no part of the next save, all else is`() throws {
    let todo = try app("todo")
    var refused = Batch(.morning)
    refused.arrived = [ArrivedPush(.made(3), of: todo, "a")]
    refused.changes.pushes = [PushID(1): .kept(todo, .made(1)), PushID(2): .kept(todo, .made(2))]
    refused.unseen = [todo: ["b"]]
    var later = Batch(.morning)
    later.arrived = [ArrivedPush(.made(4), of: todo, "a")]
    later.changes.pushes = [PushID(2): .gone]
    later.unseen = [todo: ["c"]]
    let both = later.following(refused)
    #expect(both.unseen == [todo: ["b", "c"]])
    #expect(both.arrived.map(\.id) == [PushID(4)])
    #expect(both.changes.pushes == [PushID(1): .kept(todo, .made(1)), PushID(2): .gone])
  }
}

extension Push {
  /// A push with nothing special about it.
  fileprivate static func made(_ number: UInt64) -> Push {
    Push(id: PushID(number), payload: "{}", contentID: nil, urgency: .normal, at: BootClock.morning.now)
  }
}

extension ArrivedPush {
  fileprivate init(_ push: Push, of app: AppID, _ message: String?, _ isNew: Bool = false) {
    self.init(id: push.id, app: app, push: push, message: message, isNew: isNew)
  }
}
