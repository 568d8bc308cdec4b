import RefreshEngine
import Testing

/// Transfers: the users take turns, and nobody keeps a slot that another waits for.
@Suite struct TransferTurnsTests {
  @Test func `The user with the fewest running is next, whatever the priorities of another`() throws {
    try expect(
      """
      0s  limits transfers=3
      0s  configure todo foreground=never background=never owner=1000 ; mail foreground=never background=never owner=1001
      1s  pause
      2s  enqueue 1 todo network=none priority=100
      2s  enqueue 2 todo network=none priority=100
      2s  enqueue 3 todo network=none priority=100
      2s  enqueue 4 mail network=none priority=-100
      2s  enqueue 5 mail network=none
      3s  unpause
      4s  report 1 done
      5s  end
      """,
      gives: """
        3s  transfer 1 todo
        3s  transfer 5 mail
        3s  transfer 2 todo
        4s  transfer 3 todo
        """)
  }

  @Test func `No user has the last slot, and a slow one gives way to a user without any after a minute`() throws {
    let app = "foreground=never background=never"
    let steady = [3, 28, 53].map { second in
      [1, 2, 3, 5].map { "\(second)s moved \($0) \(second * 10_000)" }.joined(separator: "\n")
    }
    try expect(
      """
      0s  limits transfers=3 per-host=3
      0s  configure todo \(app) owner=1 ; mail \(app) owner=2 ; news \(app) owner=3
      1s  enqueue 1 todo network=none
      1s  enqueue 2 todo network=none
      1s  enqueue 3 todo network=none
      1s  enqueue 4 todo network=none
      2s  enqueue 5 mail network=none
      2s  enqueue 6 mail network=none
      \(steady[0])
      \(steady[1])
      29s enqueue 7 news network=none
      \(steady[2])
      62s report 3 stopped
      63s end
      """,
      gives: """
        1s    transfer 1 todo
        1s    transfer 2 todo
        1s    transfer 3 todo
        2s    transfer 5 mail
        1min1s stop-transfer 3 todo (user)
        1min2s transfer 7 news
        """)
  }

  @Test func `A second app gives its user no second turn`() throws {
    let mine = "foreground=never background=never owner=1000", yours = "foreground=never background=never owner=1001"
    try expect(
      """
      0s  limits transfers=2
      0s  configure todo \(mine) ; mail \(mine) ; news \(yours)
      1s  pause
      2s  enqueue 1 todo network=none
      2s  enqueue 2 mail network=none
      2s  enqueue 3 news network=none
      3s  unpause
      4s  end
      """,
      gives: """
        3s  transfer 1 todo
        3s  transfer 3 news
        """)
  }

  @Test func `A second port is the same server`() throws {
    try expect(
      """
      0s  limits transfers=4 per-host=2
      0s  configure todo foreground=never background=never
      1s  enqueue 1 todo network=none host=a:80
      1s  enqueue 2 todo network=none host=a:81
      1s  enqueue 3 todo network=none host=a
      1s  enqueue 4 todo network=none host=[::1]:8080
      1s  enqueue 5 todo network=none host=a.
      2s  transfer 3
      2s  transfer 5
      3s  report 1 done
      4s  end
      """,
      gives: """
        1s  transfer 1 todo
        1s  transfer 2 todo
        1s  transfer 4 todo
        2s  transfer 3: held concurrency
        2s  transfer 5: held concurrency
        3s  transfer 3 todo
        """)
  }

  @Test func `A slow one gives way to one that waits, and is tried again a minute later`() throws {
    try expect(
      """
      0s  limits transfers=1
      0s  configure todo foreground=never background=never owner=1000 ; mail foreground=never background=never owner=1000
      1s  enqueue 1 todo network=none
      10min transfer 1
      11min enqueue 2 mail network=none
      661s report 1 stopped
      662s transfer 1
      663s report 2 done
      13min end
      """,
      gives: """
        1s  transfer 1 todo
        10min transfer 1: transferring
        11min stop-transfer 1 todo (user)
        11min1s transfer 2 mail
        11min2s transfer 1: not due until 12min1s
        11min3s start 1-1 mail (transfer default)
        11min4s end 1-1 mail new-data
        12min1s transfer 1 todo
        """)
  }

  @Test func `One that gets on keeps its slot from its own user's others`() throws {
    try expect(
      """
      0s  limits transfers=1
      0s  configure todo foreground=never background=never
      1s  enqueue 1 todo network=none
      1s  enqueue 2 todo network=none
      2s  moved 1 0
      25s moved 1 30720
      50s moved 1 61440
      79s moved 1 92159
      81s report 1 stopped
      2min end
      """,
      gives: """
        1s  transfer 1 todo
        1min20s stop-transfer 1 todo (user)
        1min21s transfer 2 todo
        """)
  }

  @Test func `A user with more slots gives some up after five minutes, those that began last`() throws {
    let moves = stride(from: 3, to: 300, by: 25).map { second in
      (1...5).map { "\(second)s moved \($0) \(second * 10_000)" }.joined(separator: "\n")
    }
    try expect(
      """
      0s  limits transfers=4
      0s  configure todo foreground=never background=never owner=1000 ; mail foreground=never background=never owner=1001
      1s  enqueue 1 todo network=none
      1s  enqueue 2 todo network=none
      1s  enqueue 3 todo network=none
      1s  enqueue 4 todo network=none
      2s  enqueue 5 mail network=none
      2s  enqueue 6 mail network=none
      \(moves.joined(separator: "\n"))
      302s report 4 stopped
      303s report 3 stopped
      304s end
      """,
      gives: """
        1s  transfer 1 todo
        1s  transfer 2 todo
        1s  transfer 3 todo
        1s  transfer 4 todo
        2s  transfer 5 mail
        5min1s stop-transfer 4 todo (user)
        5min2s stop-transfer 3 todo (user)
        5min3s transfer 6 mail
        """)
  }

  @Test func `Several changes of one call are judged together`() throws {
    let todo = try #require(AppID("org.example.todo"))
    var policy = Policy(tasks: [])
    policy.owner = 1000
    var engine = Engine(start: 1, spread: Spread(machine: 7), states: [:], wallOffset: .zero)
    _ = engine.handle(.configured(Limits(), [todo: policy]), at: Instant(microseconds: 1))
    _ = engine.handle(.paused(.untilResumed), at: Instant(microseconds: 2))
    let ids = (1...3).map { TransferID(UInt64($0)) }
    let session = TransferSession(app: todo, name: "default")
    _ = engine.handle(
      .enqueued(
        ids.map {
          Enqueued(
            id: $0,
            policy: TransferPolicy(
              session: session, host: "a", network: .none, enqueuedAt: Instant(microseconds: 3)))
        }), at: Instant(microseconds: 3))
    let decision = engine.handle(
      .several(ids.map { .transferPrioritized($0, 9) } + [.paused(nil)]), at: Instant(microseconds: 4))
    #expect(decision.changes.transfers == Set(ids))
    #expect(decision.effects.count == 3)
  }
}
