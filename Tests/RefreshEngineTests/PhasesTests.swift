import Testing

/// Two intervals, switched by signals; what entering the foreground does.
@Suite struct PhasesTests {
  @Test func `Each phase has its own interval, counted from the last start`() throws {
    try expect(
      """
      0s      configure todo foreground=5min background=1h
      10min   foreground todo
      22min   background todo
      1h30min end
      """,
      gives: """
        0s      start 1-1 todo (interval)
        10min   start 1-2 todo (foreground)
        15min   start 1-3 todo (interval)
        20min   start 1-4 todo (interval)
        1h20min start 1-5 todo (interval)
        """, only: ["start"])
  }

  @Test func `A switch keeps the anchor: the next start is the last one plus the new interval`() throws {
    try expect(
      """
      0s    configure todo foreground=5min background=1h
      2min  foreground todo
      2min  why todo
      3min  background todo
      3min  why todo
      """,
      gives: """
        2min  why todo: not due until 5min
        3min  why todo: not due until 1h
        """, only: ["why"])
  }

  @Test func `What is overdue after a switch starts at once`() throws {
    try expect(
      """
      0s    configure todo foreground=never background=15min
      1min  foreground todo
      2h    background todo
      """,
      gives: """
        0s    start 1-1 todo (interval)
        2h    start 1-2 todo (interval)
        """, only: ["start"])
  }

  @Test func `Leaving the foreground does not stop a running refresh`() throws {
    try expect(
      """
      0s    configure todo takes=20s
      5s    foreground todo
      6s    background todo
      7s    launched todo
      8s    terminated todo
      1min  end
      """,
      gives: """
        0s    start 1-1 todo (interval)
        20s   end 1-1 todo new-data
        """)
  }

  @Test func `A signal sent twice adds no refresh and no second timer`() throws {
    try expect(
      """
      0s    configure todo foreground=5min background=24h on=always
      1min  foreground todo
      2min  foreground todo
      3min  launched todo
      3min  login todo
      12min end
      """,
      gives: """
        0s     start 1-1 todo (interval)
        1min   start 1-2 todo (foreground)
        6min   start 1-3 todo (interval)
        11min  start 1-4 todo (interval)
        """, only: ["start"])
  }

  @Test(arguments: [
    ("stale", "4min", [String]()),
    ("stale", "10min", ["10min start 1-2 todo (foreground)"]),
    ("always", "4min", ["4min start 1-2 todo (foreground)"]),
    ("always", "10min", ["10min start 1-2 todo (foreground)"]),
    ("never", "4min", []),
    ("never", "10min", []),
  ])
  func `Entering the foreground does what the file says of the data that is there`(
    onForeground: String, entry: String, starts: [String]
  ) throws {
    try expect(
      """
      0s        configure todo foreground=5min background=24h on=\(onForeground)
      \(entry)  foreground todo
      \(entry)  end
      """, gives: (["0s start 1-1 todo (interval)"] + starts).joined(separator: "\n"), only: ["start"])
  }

  @Test func `With on_foreground = never the interval begins at the entry only if it has passed already`() throws {
    try expect(
      """
      0s     configure todo foreground=5min background=24h on=never
      2min   foreground todo
      2min   why todo
      3min   background todo
      20min  foreground todo
      20min  why todo
      21min  foreground todo
      21min  why todo
      """,
      gives: """
        2min   why todo: not due until 5min
        20min  why todo: not due until 25min
        21min  why todo: not due until 25min
        """, only: ["why"])
  }

  @Test func `The age of the data counts, not that of the last try, but tries keep the floor`() throws {
    try expect(
      """
      0s      configure todo foreground=5min background=24h takes=1s exit=1
      10s     foreground todo
      12s     background todo
      13s     foreground todo
      14s     background todo
      16s     foreground todo
      """,
      gives: """
        0s   start 1-1 todo (interval)
        10s  start 1-2 todo (foreground)
        16s  start 1-3 todo (foreground)
        """, only: ["start"])
  }

  @Test func `What runs already is as good as a new refresh for who enters the foreground`() throws {
    try expect(
      """
      0s   configure todo takes=10s
      3s   foreground todo
      1min end
      """,
      gives: """
        0s   start 1-1 todo (interval)
        10s  end 1-1 todo new-data
        """)
  }

  @Test func `A logged-out app is not refreshed until login, and what runs is stopped`() throws {
    try expect(
      """
      0s      configure todo foreground=5min background=1h takes=10s
      1s      foreground todo
      2s      logout todo
      30min   run todo
      40min   background todo
      40min   why todo
      2h      login todo
      2h1min  end
      """,
      gives: """
        0s      start 1-1 todo (interval)
        2s      terminate 1-1 todo (logout)
        3s      end 1-1 todo failed stopped by logout (logout)
        40min   why todo: held logged-out
        2h      start 1-2 todo (interval)
        2h10s   end 1-2 todo new-data
        """)
  }

  @Test func `Login restores the foreground that was said meanwhile`() throws {
    try expect(
      """
      0s      configure todo foreground=5min background=24h
      1min    logout todo
      2min    foreground todo
      10min   login todo
      16min   end
      """,
      gives: """
        0s      start 1-1 todo (interval)
        10min   start 1-2 todo (foreground)
        15min   start 1-3 todo (interval)
        """, only: ["start"])
  }
}
