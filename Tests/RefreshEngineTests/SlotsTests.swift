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
