import Testing

/// At most so many at once, the foreground first, and as few wakes as there can be.
@Suite struct SlotsTests {
  @Test func `Who waits for a place gets it in the order of the last instants, the foreground first`() throws {
    try expect(
      """
      0s   limits places=1
      0s   configure a background=never on=always takes=10s; b background=never on=always takes=10s; c background=never on=always takes=10s
      0s   run a
      1s   run b
      2s   foreground c
      1min end
      """,
      gives: """
        0s   start 1-1 a (manual)
        10s  start 1-2 c (foreground)
        20s  start 1-3 b (manual)
        """, only: ["start"])
  }

  @Test func `No user has the last slot, a user without a refresh gets one more`() throws {
    try expect(
      """
      0s   limits places=2
      0s   configure a owner=1 background=never takes=50s deadline=5min; b owner=1 background=never takes=50s deadline=5min; c owner=1 background=never takes=1s; d owner=2 background=never takes=30s deadline=5min; e owner=2 background=never takes=1s; f owner=3 background=never takes=1s
      1s   run a
      2s   run b
      3s   run c
      4s   run d
      5s   run e
      6s   run f
      2min end
      """,
      gives: """
        1s   start 1-1 a (manual)
        2s   start 1-2 b (manual)
        4s   start 1-3 d (manual)
        34s  start 1-4 e (manual)
        35s  start 1-5 f (manual)
        51s  start 1-6 c (manual)
        """, only: ["start"])
  }

  @Test func `A refresh that has run for a minute counts against its own user only`() throws {
    try expect(
      """
      0s   limits places=2
      0s   configure a owner=1 background=never takes=5min deadline=9min; b owner=1 background=never takes=5min deadline=9min; c owner=1 background=never takes=1s; d owner=2 background=never takes=5min deadline=9min; e owner=2 background=never takes=1s
      1s   run a
      2s   run b
      3s   run d
      4s   run c
      5s   run e
      9min end
      """,
      gives: """
        1s      start 1-1 a (manual)
        2s      start 1-2 b (manual)
        3s      start 1-3 d (manual)
        1min2s  start 1-4 e (manual)
        5min1s  start 1-5 c (manual)
        """, only: ["start"])
  }

  @Test func `Four times as many as may run at once are the most, however long they run`() throws {
    let hanging = (1...6).map { "a\($0) owner=\($0) background=never takes=9min deadline=10min" }
    try expect(
      """
      0s   limits places=1
      0s   configure \(hanging.joined(separator: "; "))
      1s   run a1
      2s   run a2
      3min run a3
      4min run a4
      5min run a5
      20min end
      """,
      gives: """
        1s      start 1-1 a1 (manual)
        2s      start 1-2 a2 (manual)
        3min    start 1-3 a3 (manual)
        4min    start 1-4 a4 (manual)
        9min1s  start 1-5 a5 (manual)
        """, only: ["start"])
  }

  @Test func `A yes expires as ever while something else is missing too`() throws {
    try expect(
      """
      0s      limits places=1
      0s      configure long background=1h takes=90s deadline=3min
      1s      configure long background=1h takes=90s deadline=3min; todo background=1h when=vpn says=yes
      30s     pause
      80s     unpause
      5min    end
      """,
      gives: """
        0s start 1-1 long (interval)
        1s ask 1-2 todo when
        1min20s ask 1-3 todo when
        1min30s start 1-4 todo (interval)
        """, only: ["ask", "start"])
  }

  @Test func `Windows that overlap are served by one wake, at the first end of any`() throws {
    var timeline = Timeline()
    try timeline.play(
      Script(
        """
        0s    configure a background=60min takes=1s; b background=never takes=1s
        1min  set b background=60min
        3h    end
        """))
    let starts = timeline.trace.filter { $0.contains(" start ") && !$0.contains(" 0s ") }
    let times = Dictionary(grouping: starts) { $0.prefix { $0 != " " } }
    #expect(times.values.contains { $0.count == 2 }, "\(starts)")
  }
}
