import RefreshEngine
import Testing

/// A reload puts all apps in force at once: they come, change and go, also while they run.
@Suite struct ReloadTests {
  @Test func `A new app is refreshed at once, the others keep their schedule`() throws {
    try expect(
      """
      0s     configure todo background=1h
      10min  configure todo background=1h; mail background=1h
      20min  why todo
      """,
      gives: """
        0s     start 1-1 todo (interval)
        10min  start 1-2 mail (interval)
        20min  why todo: not due until 1h
        """, only: ["start", "why"])
  }

  @Test func `An app that goes is stopped, and comes back with what is known of it`() throws {
    try expect(
      """
      0s     configure todo background=1h takes=20s
      10s    configure mail background=never
      20s    why todo
      30min  configure todo background=1h takes=20s
      30min  why todo
      """,
      gives: """
        0s     start 1-1 todo (interval)
        10s    terminate 1-1 todo (unconfigured)
        11s    end 1-1 todo failed stopped by unconfigured (unconfigured)
        20s    why todo: held not-configured
        30min  why todo: not due until 1h
        """)
  }

  @Test func `An app that comes back while its last run ends waits for that`() throws {
    try expect(
      """
      0s   configure todo takes=forever stubborn=yes grace=20s
      10s  configure mail background=never
      12s  configure todo
      12s  run todo
      13s  why todo
      30s  end
      """,
      gives: """
        0s   start 1-1 todo (interval)
        10s  terminate 1-1 todo (unconfigured)
        13s  why todo: refreshing 1-1
        30s  kill 1-1 todo
        30s  end 1-1 todo failed stopped by unconfigured (unconfigured)
        30s  start 1-2 todo (manual)
        """)
  }

  @Test func `A shorter interval makes apps overdue that nothing has missed`() throws {
    var timeline = Timeline()
    try timeline.play(
      Script(
        """
        0s  configure todo background=3h; mail background=3h
        2h  configure todo background=1h; mail background=1h
        2h10min end
        """))
    let starts = timeline.trace.filter { $0.contains(" start ") }
    #expect(starts.count == 4)
    #expect(starts.allSatisfy { $0.hasSuffix("(interval)") }, "\(starts)")
  }

  @Test func `An app that was due and held before a reload waits on as it did`() throws {
    var timeline = Timeline()
    try timeline.play(
      Script(
        """
        0s      network wired
        0s      configure todo background=1h network=any; mail background=1h network=any
        10min   network gone
        2h      configure todo background=1h network=any; mail background=1h network=any; news
        2h1min  end
        """))
    let now = Instant(microseconds: 0) + .minutes(121)
    let engine = try #require(timeline.engine)
    for id in try [appID("todo"), appID("mail")] {
      let explanation = try #require(engine.explain(id, at: now))
      #expect(engine.state(of: id)?.request == nil)
      #expect(explanation.trigger == .interval)
      #expect(explanation.window.map { $0.earliest <= Instant(microseconds: 0) + .minutes(61) } == true)
    }
  }

  @Test func `A request ends with the app's file`() throws {
    try expect(
      """
      0s   configure todo takes=10s
      1s   run todo
      2s   configure mail background=never
      5s   configure todo
      1min end
      """, gives: "0s start 1-1 todo (interval)", only: ["start"])
  }

  @Test func `What was asked before the file went while the daemon was off is forgotten too`() throws {
    try expect(
      """
      0s    configure todo takes=forever
      10s   down
      20s   up
      20s   configure mail background=never
      1min  configure todo takes=1s
      1min  why todo
      """,
      gives: """
        0s    start 1-1 todo (interval)
        20s   end 1-1 todo failed crashed
        20s   start 2-1 todo (retry)
        20s   terminate 2-1 todo (unconfigured)
        21s   end 2-1 todo failed stopped by unconfigured (unconfigured)
        1min  why todo: not due until 1d
        """)
  }

  @Test func `A new interval counts from the last start, and many that it makes overdue are spread`() throws {
    try expect(
      """
      0s  configure a
      0s  configure a; b
      0s  configure a; b; c
      5h  configure a background=1h; b background=1h; c background=6h
      5h  why a
      5h  why b
      5h  why c
      """,
      gives: """
        5h  why a: not due until 5h823ms136us
        5h  why b: not due until 5h98ms963us
        5h  why c: not due until 6h
        """, only: ["why"])
  }

  @Test func `Signals to an app that is not configured change nothing`() throws {
    try expect(
      """
      0s  configure todo
      1s  foreground mail
      1s  logout mail
      1s  run mail
      1s  set mail background=1h
      2s  why mail
      3s  configure todo; mail
      4s  why mail
      """,
      gives: """
        2s  why mail: held not-configured
        4s  why mail: not due until 1d3s
        """, only: ["why"])
  }
}
