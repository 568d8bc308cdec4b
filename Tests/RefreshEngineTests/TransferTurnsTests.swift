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
      0s  configure todo foreground=never background=never owner=1000 ; mail foreground=never background=never owner=1001
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

  @Test func `A user with more slots gives one up after five minutes, the one that began last`() throws {
    try expect(
      """
      0s  limits transfers=2
      0s  configure todo foreground=never background=never owner=1000 ; mail foreground=never background=never owner=1001
      1s  enqueue 1 todo network=none
      1s  enqueue 2 todo network=none
      2s  enqueue 3 mail network=none
      3s  moved 1 0
      3s  moved 2 0
      30s moved 1 99999
      30s moved 2 99999
      59s moved 1 199999
      59s moved 2 199999
      88s moved 1 299999
      88s moved 2 299999
      117s moved 1 399999
      117s moved 2 399999
      146s moved 1 499999
      146s moved 2 499999
      175s moved 1 599999
      175s moved 2 599999
      204s moved 1 699999
      204s moved 2 699999
      233s moved 1 799999
      233s moved 2 799999
      262s moved 1 899999
      262s moved 2 899999
      291s moved 1 999999
      291s moved 2 999999
      302s report 2 stopped
      303s end
      """,
      gives: """
        1s  transfer 1 todo
        1s  transfer 2 todo
        5min1s stop-transfer 2 todo (user)
        5min2s transfer 3 mail
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
    #expect(decision.transfersChanged == Set(ids))
    #expect(decision.effects.count == 3)
  }
}
