import Testing

/// Never two refreshes of an app; what asks during a run leads to one more at most, after it.
@Suite struct OverlapTests {
  @Test func `Whatever asks during a run leads to one more run, after it`() throws {
    try expect(
      """
      0s    configure todo takes=10s on=always
      2s    run todo
      3s    run todo push
      4s    foreground todo
      5s    run todo
      1min  end
      """,
      gives: """
        0s   start 1-1 todo (interval)
        10s  end 1-1 todo new-data
        10s  start 1-2 todo (manual)
        20s  end 1-2 todo new-data
        """)
  }

  @Test func `An interval shorter than the run leads to the next one at its end`() throws {
    try expect(
      """
      0s   configure todo foreground=5s background=never takes=12s
      0s   foreground todo
      30s  background todo
      2min end
      """,
      gives: """
        0s   start 1-1 todo (foreground)
        12s  end 1-1 todo new-data
        12s  start 1-2 todo (interval)
        24s  end 1-2 todo new-data
        24s  start 1-3 todo (interval)
        36s  end 1-3 todo new-data
        """)
  }

  @Test func `A request outlives the change of phase that another trigger does not`() throws {
    try expect(
      """
      0s   configure todo takes=10s on=always
      2s   foreground todo
      3s   run todo
      4s   background todo
      1min end
      """,
      gives: """
        0s   start 1-1 todo (interval)
        10s  start 1-2 todo (manual)
        """, only: ["start"])
  }

  @Test func `Who left the foreground again needs no refresh for it`() throws {
    try expect(
      """
      0s   configure todo takes=10s on=always
      2s   foreground todo
      4s   background todo
      1min end
      """, gives: "0s start 1-1 todo (interval)", only: ["start"])
  }

  @Test func `A request during a stop runs after it`() throws {
    try expect(
      """
      0s   configure todo takes=forever stubborn=yes
      31s  run todo
      36s  end
      """,
      gives: """
        0s   start 1-1 todo (interval)
        25s  warn 1-1 todo
        30s  terminate 1-1 todo (deadline)
        35s  kill 1-1 todo
        35s  end 1-1 todo failed stopped by deadline (deadline)
        35s  start 1-2 todo (manual)
        """)
  }

  @Test func `Apps do not wait for each other`() throws {
    try expect(
      """
      0s   configure mail background=never takes=20s; todo background=never takes=20s
      1s   run mail
      2s   run todo
      """,
      gives: """
        1s   start 1-1 mail (manual)
        2s   start 1-2 todo (manual)
        """)
  }
}
