import Testing

/// Told five seconds before, then SIGTERM, the grace, SIGKILL.
@Suite struct DeadlineTests {
  @Test func `A refresh is told, asked to end, and killed after the grace`() throws {
    try expect(
      "0s configure todo takes=forever stubborn=yes\n5min end",
      gives: """
        0s   start 1-1 todo (interval)
        25s  warn 1-1 todo
        30s  terminate 1-1 todo (deadline)
        35s  kill 1-1 todo
        35s  end 1-1 todo failed stopped by deadline (deadline)
        """)
  }

  @Test func `Who ends when asked is not killed`() throws {
    try expect(
      "0s configure todo takes=forever deadline=1min grace=20s\n5min end",
      gives: """
        0s      start 1-1 todo (interval)
        55s     warn 1-1 todo
        1min    terminate 1-1 todo (deadline)
        1min1s  end 1-1 todo failed stopped by deadline (deadline)
        """)
  }

  @Test func `Who ends after the warning is not stopped`() throws {
    try expect(
      "0s configure todo takes=27s\n5min end",
      gives: """
        0s   start 1-1 todo (interval)
        25s  warn 1-1 todo
        27s  end 1-1 todo new-data
        """)
  }

  @Test func `A refresh that a person lets expire ends as by its deadline`() throws {
    try expect(
      "0s configure todo takes=forever stubborn=yes deadline=10min\n20s expire 1-1\n5min end",
      gives: """
        0s   start 1-1 todo (interval)
        20s  warn 1-1 todo
        25s  terminate 1-1 todo (deadline)
        30s  kill 1-1 todo
        30s  end 1-1 todo failed stopped by deadline (deadline)
        """)
  }

  @Test func `A second word to expire takes away the time after the warning`() throws {
    try expect(
      "0s configure todo takes=forever deadline=10min\n20s expire 1-1\n21s expire 1-1\n22s expire 1-1\n5min end",
      gives: """
        0s   start 1-1 todo (interval)
        20s  warn 1-1 todo
        21s  terminate 1-1 todo (deadline)
        22s  end 1-1 todo failed stopped by deadline (deadline)
        """)
  }

  @Test(arguments: [("5s", "7s"), ("3s", "5s")])
  func `A deadline too short for a warning has none`(deadline: String, kill: String) throws {
    try expect(
      "0s configure todo takes=forever stubborn=yes deadline=\(deadline) grace=2s\n1min end",
      gives: """
        0s           start 1-1 todo (interval)
        \(deadline)  terminate 1-1 todo (deadline)
        \(kill)      kill 1-1 todo
        \(kill)      end 1-1 todo failed stopped by deadline (deadline)
        """)
  }

  @Test func `Without a grace the kill comes with the deadline`() throws {
    try expect(
      "0s configure todo takes=forever stubborn=yes grace=0s\n1min end",
      gives: """
        0s   start 1-1 todo (interval)
        25s  warn 1-1 todo
        30s  terminate 1-1 todo (deadline)
        30s  kill 1-1 todo
        30s  end 1-1 todo failed stopped by deadline (deadline)
        """)
  }

  @Test func `Suspend counts as time, and the grace is still given after it`() throws {
    try expect(
      """
      0s   configure todo takes=forever stubborn=yes
      10s  suspend 1h
      2h   end
      """,
      gives: """
        0s      start 1-1 todo (interval)
        1h10s   terminate 1-1 todo (deadline)
        1h15s   kill 1-1 todo
        1h15s   end 1-1 todo failed stopped by deadline (deadline)
        """)
  }

  @Test func `One deadline holds for all tasks, and each keeps its own outcome`() throws {
    try expect(
      """
      0s   configure todo tasks=pull,push takes=forever
      9s   ends 1-1 0 exit=0
      5min end
      """,
      gives: """
        0s   start 1-1 todo (interval)
        25s  warn 1-1 todo
        30s  terminate 1-1 todo (deadline)
        31s  end 1-1 todo failed stopped by deadline (deadline) [pull new-data, push failed stopped by deadline]
        """)
  }

  @Test func `The first reason to stop counts, and the grace is not given twice`() throws {
    try expect(
      """
      0s   configure todo takes=forever stubborn=yes
      28s  logout todo
      29s  stop
      1min end
      """,
      gives: """
        0s   start 1-1 todo (interval)
        25s  warn 1-1 todo
        28s  terminate 1-1 todo (logout)
        33s  kill 1-1 todo
        33s  end 1-1 todo failed stopped by logout (logout)
        """)
  }

  @Test func `A reload does not change the deadline of what runs`() throws {
    try expect(
      """
      0s   configure todo takes=forever
      1s   configure todo takes=forever deadline=5min
      1min end
      """,
      gives: """
        0s   start 1-1 todo (interval)
        25s  warn 1-1 todo
        30s  terminate 1-1 todo (deadline)
        31s  end 1-1 todo failed stopped by deadline (deadline)
        """)
  }
}
