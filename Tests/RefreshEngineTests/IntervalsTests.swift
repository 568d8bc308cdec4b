import Testing

/// `never`, `minimum`, floors and defaults.
@Suite struct IntervalsTests {
  @Test(arguments: [
    ("background=24h", "1d"),
    ("", "1d"),
    ("background=1s", "15min"),
    ("background=20min", "20min"),
  ])
  func `The background interval has a default and a floor`(keys: String, due: String) throws {
    try expect("0s configure todo \(keys)\n5s next", gives: "5s next \(due)", only: ["next"])
  }

  @Test(arguments: [
    ("", "5min"),
    ("foreground=minimum", "5s"),
    ("foreground=1s", "5s"),
    ("foreground=90s", "1min30s"),
  ])
  func `The foreground interval has a default and a floor`(keys: String, due: String) throws {
    try expect(
      "0s configure todo \(keys)\n2s foreground todo\n2s next", gives: "2s next \(due)", only: ["next"])
  }

  @Test func `The administrator sets the floors, and a reload puts them in force`() throws {
    try expect(
      """
      0s  configure todo background=20min
      1s  limits background=1h foreground=1min
      1s  configure todo background=20min
      2s  next
      """, gives: "2s next 1h", only: ["next"])
  }

  @Test
  func `A fixed interval does not drift: a late refresh runs once, and the next is due as if it had been in time`()
    throws
  {
    try expect(
      """
      0s       network wired
      0s       configure todo background=1h network=any
      50min    network gone
      1h20min  network wired
      2h50min  network gone
      4h40min  network wired
      6h30min  end
      """,
      gives: """
        0s      start 1-1 todo (interval)
        1h20min start 1-2 todo (interval)
        2h      start 1-3 todo (interval)
        4h40min start 1-4 todo (interval)
        6h      start 1-5 todo (interval)
        """, only: ["start"])
  }

  @Test(arguments: [
    ("run todo", "exit=0", "2h20min"), ("synced todo", "exit=0", "2h20min"),
    ("foreground todo\n1h21min background todo", "exit=0", "2h20min"), ("run todo", "exit=1", "2h"),
  ])
  func `A good refresh for another reason begins the fixed interval again`(
    other: String, end: String, next: String
  ) throws {
    var timeline = Timeline()
    try timeline.play(
      Script("0s configure todo background=1h foreground=10min \(end)\n1h20min \(other)\n2h30min end"))
    let starts = timeline.trace.filter { $0.contains(" start ") && $0.hasSuffix("(interval)") }
    #expect(starts.map { $0.prefix { $0 != " " } } == ["0s", "1h", next[...]], "\(timeline.trace)")
  }

  @Test func `Never is not refreshed by time, but by what asks for it`() throws {
    try expect(
      """
      0s    configure todo foreground=never background=never
      1s    why todo
      1s    next
      2min  foreground todo
      1h    run todo
      2h    run todo push
      """,
      gives: """
        1s    why todo: held never
        1s    next none
        1h    start 1-1 todo (manual)
        1h1s  end 1-1 todo new-data
        2h    start 1-2 todo (push)
        """)
  }

  @Test func `Never in one phase leaves the other one alone`() throws {
    try expect(
      """
      0s     configure todo foreground=5min background=never
      1h     foreground todo
      1h7min background todo
      3h     end
      """,
      gives: """
        1h      start 1-1 todo (foreground)
        1h5min  start 1-2 todo (interval)
        """, only: ["start"])
  }

  @Test func `A refresh on request moves the anchor`() throws {
    try expect(
      """
      0s     configure todo background=1h
      50min  run todo
      51min  why todo
      """, gives: "51min why todo: not due until 1h50min", only: ["why"])
  }

  @Test func `A person may name the trigger that is to be tried`() throws {
    try expect(
      """
      0s    configure todo background=24h
      1min  run todo interval
      2min  run todo push
      """,
      gives: """
        0s    start 1-1 todo (interval)
        1min  start 1-2 todo (interval)
        2min  start 1-3 todo (push)
        """, only: ["start"])
  }

  @Test func `A failure waits for the interval like a success`() throws {
    try expect(
      "0s configure todo background=15min exit=1\n31min end",
      gives: """
        0s       start 1-1 todo (interval)
        1s       end 1-1 todo failed exit 1
        15min    start 1-2 todo (interval)
        15min1s  end 1-2 todo failed exit 1
        30min    start 1-3 todo (interval)
        30min1s  end 1-3 todo failed exit 1
        """)
  }
}
