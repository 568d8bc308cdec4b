import Testing

/// Failures that are worth a retry run again; an app that overruns its deadline three times rests.
@Suite struct RetriesTests {
  @Test func `A temporary failure is tried again, each time after twice as long`() throws {
    var timeline = Timeline()
    try timeline.play(Script("0s configure todo background=24h takes=1s exit=75\n40min end"))
    let starts = timeline.trace.filter { $0.contains(" start ") }.compactMap {
      try? duration(String($0.prefix { $0 != " " }))
    }
    let waits = zip(starts, starts.dropFirst()).map { $1 - $0 - .seconds(1) }
    #expect(waits.count >= 6)
    for (wait, least) in zip(waits, [30, 60, 120, 240, 480, 960]) {
      #expect(wait >= .seconds(least) && wait < .seconds(least) + .seconds(least) / 5, "\(wait) instead of \(least) s")
    }
  }

  @Test func `A success in between begins again at 30 s`() throws {
    try expect(
      """
      0s    configure todo background=1h takes=forever
      1s    ends 1-1 0 exit=75
      2min  ends 1-2 0 exit=0
      2h    ends 1-3 0 exit=0
      3h    end
      """,
      gives: """
        0s               start 1-1 todo (interval)
        36s377ms791us    start 1-2 todo (retry)
        1h  start 1-3 todo (interval)
        2h  start 1-4 todo (interval)
        """, only: ["start"])
  }

  @Test func `A failure that is no use trying again waits for the interval`() throws {
    try expect(
      """
      0s  configure todo background=1h takes=1s exit=1
      2h  end
      """,
      gives: """
        0s   start 1-1 todo (interval)
        1h   start 1-2 todo (interval)
        2h   start 1-3 todo (interval)
        """, only: ["start"])
  }

  @Test func `The app's own word for when to try again counts, whatever the failure`() throws {
    try expect(
      """
      0s    configure todo background=24h takes=forever
      1s    retry-after 1-1 10min
      2s    says 1-1 0 failed 503
      3s    ends 1-1 0 exit=0
      1h    end
      """,
      gives: """
        0s       start 1-1 todo (interval)
        10min3s  start 1-2 todo (retry)
        """, only: ["start"])
  }

  @Test func `A server that names a wait is not asked earlier, however short the interval and old the data`() throws {
    try expect(
      """
      0s    configure todo background=1h takes=forever
      1s    retry-after 1-1 6h
      2s    says 1-1 0 failed 503
      3s    ends 1-1 0 exit=0
      3h    why todo
      4h    down
      5h    up
      7h    end
      """,
      gives: """
        0s    start 1-1 todo (interval)
        3h    why todo: not due until 6h3s
        6h3s  start 2-1 todo (retry)
        7h    start 2-2 todo (interval)
        """, only: ["start", "why"])
  }

  @Test func `An interval that begins with the foreground does not bring the server's wait forward`() throws {
    try expect(
      """
      0s     configure todo foreground=10min background=1h on=never takes=forever
      1s     retry-after 1-1 6h
      3s     ends 1-1 0 exit=75
      2h     foreground todo
      5h     why todo
      6h4min end
      """,
      gives: """
        0s    start 1-1 todo (interval)
        5h    why todo: not due until 6h3s
        6h3s  start 1-2 todo (retry)
        """, only: ["start", "why"])
  }

  @Test func `A wait that a push's refresh was told holds the interval that began with the foreground`() throws {
    try expect(
      """
      0s       configure todo foreground=10min background=24h on=never takes=forever
      0s       power mains
      1s       ends 1-1 0 exit=0
      2h       foreground todo
      2h1min   push 1 todo a
      2h1min   retry-after 1-2 1h
      2h2min   ends 1-2 0 exit=75
      3h1min   end
      """,
      gives: """
        0s      start 1-1 todo (interval)
        2h1min  start 1-2 todo (push a#1)
        """, only: ["start"])
  }

  @Test func `A person does not wait for the server's word`() throws {
    try expect(
      """
      0s    configure todo background=1h takes=forever
      1s    retry-after 1-1 6h
      3s    ends 1-1 0 exit=75
      2h    run todo
      2h30s ends 1-2 0 exit=0
      3h30min end
      """,
      gives: """
        0s     start 1-1 todo (interval)
        2h     start 1-2 todo (manual)
        3h     start 1-3 todo (interval)
        """, only: ["start"])
  }

  @Test func `What went well is not tried again, whatever the app said before`() throws {
    try expect(
      """
      0s    configure todo background=24h takes=forever
      1s    retry-after 1-1 10min
      3s    ends 1-1 0 exit=0
      1h    end
      """,
      gives: "0s start 1-1 todo (interval)", only: ["start"])
  }

  @Test func `Three overruns of the deadline within a day leave the app at its ceiling for a day`() throws {
    try expect(
      """
      0s     configure todo background=1h takes=forever deadline=30s
      10h    end
      """,
      gives: """
        0s            start 1-1 todo (interval)
        1h            start 1-2 todo (interval)
        2h            start 1-3 todo (interval)
        5h            start 1-4 todo (interval)
        8h            start 1-5 todo (interval)
        """, only: ["start"])
  }
}
