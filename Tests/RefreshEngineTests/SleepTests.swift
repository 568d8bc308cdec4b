import RefreshEngine
import Testing

/// Refreshes end before the machine sleeps, and long work stops for the user.
@Suite struct SleepTests {
  @Test func `Who ends in time before the machine sleeps is not disturbed`() throws {
    try expect(
      """
      0s  configure todo takes=11s
      10s sleeps-in 4s
      20s resumed
      30s end
      """,
      gives: """
        0s  start 1-1 todo (interval)
        10s warn 1-1 todo
        11s end 1-1 todo new-data
        """)
  }

  @Test func `What sleep cuts off is told, stopped in time, and no failure: it runs again when the machine is awake`()
    throws
  {
    try expect(
      """
      0s  configure todo takes=forever stubborn=yes
      10s sleeps-in 4s
      14s suspend 1h
      61min resumed
      62min end
      """,
      gives: """
        0s  start 1-1 todo (interval)
        10s warn 1-1 todo
        12s terminate 1-1 todo (sleep)
        14s kill 1-1 todo
        14s end 1-1 todo failed stopped by sleep (sleep)
        1h1min20s start 1-2 todo (retry)
        1h1min45s warn 1-2 todo
        1h1min50s terminate 1-2 todo (deadline)
        1h1min55s kill 1-2 todo
        1h1min55s end 1-2 todo failed stopped by deadline (deadline)
        """)
  }

  @Test func `Nothing starts on the way to sleep, not even for a person`() throws {
    try expect(
      """
      0s  configure todo
      10s sleeps-in 4s
      11s run todo
      12s why todo
      20s resumed
      1min end
      """,
      gives: """
        0s  start 1-1 todo (interval)
        1s  end 1-1 todo new-data
        12s why todo: held suspending
        20s start 1-2 todo (manual)
        21s end 1-2 todo new-data
        """)
  }

  @Test func `Sleep that does not come lets a refresh go on to its deadline`() throws {
    try expect(
      """
      0s  configure todo takes=forever
      1s  sleeps-in 4s
      2s  resumed
      31s end
      """,
      gives: """
        0s  start 1-1 todo (interval)
        1s  warn 1-1 todo
        30s terminate 1-1 todo (deadline)
        31s end 1-1 todo failed stopped by deadline (deadline)
        """)
  }

  @Test func `Long work stops when the user returns, and goes on when he is gone`() throws {
    try expect(
      """
      0s    idle yes
      0s    power mains
      0s    configure todo processing=yes idle=yes power=ac deadline=10min takes=2min background=24h
      1min  idle no
      100h  why todo
      101h  idle yes
      102h  end
      """,
      gives: """
        0s    start 1-1 todo (interval)
        1min  warn 1-1 todo
        1min5s terminate 1-1 todo (constraint-lost)
        1min6s end 1-1 todo failed stopped by constraint-lost (constraint-lost)
        4d4h  why todo: held idle
        4d5h  start 1-2 todo (retry)
        4d5h2min end 1-2 todo new-data
        """)
  }
}
