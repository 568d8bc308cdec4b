import RefreshEngine
import Testing

/// The end of a transfer session reaches its app, however often nothing can be started, and wakes it within a limit.
@Suite struct SessionWakesTests {
  @Test func `A wake of which nothing could be started is tried again, and counts as no try and no failure`() throws {
    try expect(
      """
      0s    configure todo foreground=never background=never takes=forever
      1s    enqueue 1 todo network=none session=mail
      2s    report 1 done
      2s    ends 1-1 0 not-started
      40s   ends 1-2 0 no-means
      80s   ends 1-3 0 not-started
      3min  ends 1-4 0 exit=0
      1h    end
      """,
      gives: """
        2s        start 1-1 todo (transfer mail)
        2s        end 1-1 todo failed spawn: no such program
        32s       start 1-2 todo (transfer mail)
        40s       end 1-2 todo failed spawn: no process to spare
        1min18s   start 1-3 todo (transfer mail)
        1min20s   end 1-3 todo failed spawn: no such program
        2min38s   start 1-4 todo (transfer mail)
        3min      end 1-4 todo new-data
        """, only: ["start", "end", "drop-wake"])
  }

  @Test func `A wake is given up after a week without a start, and reaches nobody`() throws {
    var timeline = Timeline()
    try timeline.play(
      Script(
        """
        0s    configure todo foreground=never background=never takes=0s exit=-1
        1s    enqueue 1 todo network=none session=mail
        2s    report 1 done
        200h  why todo
        """))
    let starts = timeline.trace.count { $0.contains(" start ") }
    let dropped = timeline.trace.filter { $0.contains("drop-wake todo mail") }
    #expect(dropped.count == 1)
    #expect((35...50).contains(starts), "\(starts) starts in a week")
    #expect(timeline.trace.last?.contains("held never") == true, "\(timeline.trace.suffix(2))")
  }

  @Test func `An app that ends one session after another is woken 20 times at once, then every two minutes`() throws {
    let transfers = (1...23).map { "1s enqueue \($0) todo network=none session=s\($0)\n1s report \($0) done" }
    var timeline = Timeline()
    try timeline.play(
      Script(
        "0s configure todo foreground=never background=never\n" + transfers.joined(separator: "\n")
          + "\n1min why todo\n90s run todo\n10min end"))
    let starts = timeline.trace.filter { $0.contains(" start ") }
    #expect(starts.count == 24, "\(starts)")
    #expect(starts[19].hasPrefix("20s"))
    #expect(starts[20].contains("1min30s") && starts[20].contains("manual"), "a person is not held by the limit")
    #expect(starts[21].hasPrefix("2min1s") && starts[22].hasPrefix("4min1s"), "\(starts[21...])")
    #expect(timeline.trace.contains { $0.contains("why todo: held wake-limit") }, "\(timeline.trace)")
  }

  @Test func `A refresh that the machine has no means to start is tried again within seconds`() throws {
    try expect(
      """
      0s    configure todo background=1h takes=forever
      0s    ends 1-1 0 no-means
      7s    ends 1-2 0 no-means
      30s   ends 1-3 0 exit=75
      5min  end
      """,
      gives: """
        0s                start 1-1 todo (interval)
        5s278ms264us      start 1-2 todo (retry)
        17s556ms529us     start 1-3 todo (retry)
        1min5s377ms791us  start 1-4 todo (retry)
        """, only: ["start"])
  }

  @Test func `An app that leaves before it has taken a refresh is started again three times, and then has failed`()
    throws
  {
    try expect(
      """
      0s    configure todo background=1h takes=forever
      1s    ends 1-1 0 not-taken
      2s    ends 1-2 0 not-taken
      3s    ends 1-3 0 not-taken
      4s    ends 1-4 0 not-taken
      1min  end
      """,
      gives: """
        1s  end 1-1 todo failed stopped by not-taken (not-taken)
        2s  end 1-2 todo failed stopped by not-taken (not-taken)
        3s  end 1-3 todo failed stopped by not-taken (not-taken)
        4s  end 1-4 todo failed lost client
        """, only: ["end"])
  }
}
