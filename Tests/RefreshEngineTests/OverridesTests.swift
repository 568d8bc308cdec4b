import Testing

/// Intervals changed at run time, without losing the schedule; kept across restarts.
@Suite struct OverridesTests {
  @Test func `A new interval counts from the last start`() throws {
    try expect(
      """
      0s     configure todo background=24h
      1h     set todo background=2h
      1h     why todo
      3h     reset todo
      3h     why todo
      """,
      gives: """
        1h  why todo: not due until 2h
        3h  why todo: not due until 1d2h
        """, only: ["why"])
  }

  @Test func `What a new interval makes overdue starts at once`() throws {
    try expect(
      "0s configure todo background=24h\n3h set todo background=1h\n3h end",
      gives: """
        0s  start 1-1 todo (interval)
        3h  start 1-2 todo (interval)
        """, only: ["start"])
  }

  @Test func `A set interval is the schedule of a planned app at once`() throws {
    var timeline = Timeline()
    try timeline.play(
      Script(
        """
        0s      configure todo background=auto,1h
        72h     set todo background=30min
        74h     end
        """))
    let starts = timeline.trace.filter { $0.contains(" start ") && $0.hasPrefix("3d") }
    #expect(starts.count >= 4, "\(timeline.trace.suffix(20))")
  }

  @Test func `Overrides outlive a reload, a restart and a reboot`() throws {
    try expect(
      """
      0s     configure todo background=24h
      1min   set todo background=2h foreground=never
      2min   configure todo background=12h
      2min   why todo
      3min   down
      4min   up
      4min   why todo
      5min   down
      10min  boot
      10min  why todo
      11min  foreground todo
      11min  why todo
      """,
      gives: """
        2min   why todo: not due until 2h
        4min   why todo: not due until 2h
        10min  why todo: not due until 2h
        11min  why todo: held never
        """, only: ["why"])
  }

  @Test func `Never stops what was going to be caught up`() throws {
    try expect(
      """
      0s     configure mail background=1h
      0s     configure mail background=1h; todo background=1h
      10min  down
      3h     boot
      3h     set todo background=never
      3h     set mail background=24h
      4h     why todo
      4h     why mail
      """,
      gives: """
        0s  start 1-1 mail (interval)
        0s  start 1-2 todo (interval)
        4h  why todo: held never
        4h  why mail: not due until 1d
        """, only: ["why", "start"])
  }

  @Test func `An interval set in the foreground takes the place of the one that began at the entry`() throws {
    try expect(
      """
      0s     configure todo foreground=1h background=24h on=never
      10h    foreground todo
      10h    why todo
      10h    set todo foreground=1min
      """,
      gives: """
        0s    start 1-1 todo (interval)
        10h   why todo: not due until 11h
        10h   start 1-2 todo (interval)
        """, only: ["why", "start"])
  }
}
