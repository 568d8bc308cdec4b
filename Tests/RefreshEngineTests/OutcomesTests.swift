import RefreshEngine
import Testing

/// How the end of a task is judged, and what a group makes of it.
@Suite struct OutcomesTests {
  @Test(arguments: [
    ("judge=exit", "exit=0", "new-data"),
    ("judge=exit", "exit=100", "no-data"),
    ("judge=exit", "exit=75", "failed temporary 75"),
    ("judge=exit", "exit=1", "failed exit 1"),
    ("judge=exit", "exit=0 printed", "new-data"),
    ("judge=output", "exit=0", "no-data"),
    ("judge=output", "exit=0 printed", "new-data"),
    ("judge=output", "exit=0 changed", "no-data"),
    ("judge=output", "exit=1 printed", "failed exit 1"),
    ("judge=changed", "exit=0", "no-data"),
    ("judge=changed", "exit=0 changed", "new-data"),
    ("judge=changed", "exit=0 printed", "no-data"),
    ("judge=changed", "exit=100 changed", "no-data"),
    ("no-data-exit=3", "exit=3", "no-data"),
    ("no-data-exit=3", "exit=100", "failed exit 100"),
    ("no-data-exit=0", "exit=0", "no-data"),
    ("retry-exit=7", "exit=7", "failed temporary 7"),
    ("retry-exit=7", "exit=75", "failed exit 75"),
    ("judge=exit", "signal=11", "failed signal 11"),
    ("judge=output", "signal=15 printed", "failed signal 15"),
    ("judge=exit", "not-started", "failed spawn: no such program"),
  ])
  func `The end of a task is judged as its file says`(keys: String, end: String, outcome: String) throws {
    try expect(
      """
      0s  configure todo \(keys) takes=forever
      2s  ends 1-1 0 \(end)
      """,
      gives: """
        0s  start 1-1 todo (interval)
        2s  end 1-1 todo \(outcome)
        """)
  }

  @Test(arguments: [
    (["exit=0", "exit=100", "exit=1"], "failed exit 1 [a new-data, b no-data, c failed exit 1]"),
    (["exit=1", "exit=100", "exit=0"], "failed exit 1 [a failed exit 1, b no-data, c new-data]"),
    (["exit=100", "exit=2", "exit=1"], "failed exit 2 [a no-data, b failed exit 2, c failed exit 1]"),
    (["exit=100", "exit=0", "exit=100"], "new-data [a no-data, b new-data, c no-data]"),
    (["exit=100", "exit=100", "exit=100"], "no-data [a no-data, b no-data, c no-data]"),
  ])
  func `A failed task outweighs new data, and new data outweighs no data`(
    ends: [String], outcome: String
  ) throws {
    try expect(
      """
      0s  configure todo tasks=a,b,c takes=forever
      1s  ends 1-1 2 \(ends[2])
      2s  ends 1-1 0 \(ends[0])
      3s  ends 1-1 1 \(ends[1])
      """,
      gives: """
        0s  start 1-1 todo (interval)
        3s  end 1-1 todo \(outcome)
        """)
  }

  @Test func `What the task says stands before how its process ends`() throws {
    try expect(
      """
      0s  configure todo takes=forever
      1s  says 1-1 0 no-data
      2s  ends 1-1 0 exit=1
      """,
      gives: """
        0s  start 1-1 todo (interval)
        2s  end 1-1 todo no-data
        """)
  }

  @Test func `The first completion counts, further ones are counted`() throws {
    try expect(
      """
      0s  configure todo takes=forever
      1s  says 1-1 0 failed the server is away
      2s  says 1-1 0 new-data
      3s  says 1-1 0 no-data
      4s  ends 1-1 0 exit=0
      5s  says 1-1 0 new-data
      """,
      gives: """
        0s  start 1-1 todo (interval)
        4s  end 1-1 todo failed said: the server is away extra=2
        """)
  }

  @Test func `A completion after the deadline is none`() throws {
    try expect(
      """
      0s   configure todo takes=forever stubborn=yes
      32s  says 1-1 0 new-data
      1min end
      """,
      gives: """
        0s   start 1-1 todo (interval)
        25s  warn 1-1 todo
        30s  terminate 1-1 todo (deadline)
        35s  kill 1-1 todo
        35s  end 1-1 todo failed stopped by deadline (deadline)
        """)
  }

  @Test func `A completion before the deadline holds even if the process had to be killed`() throws {
    try expect(
      """
      0s   configure todo takes=forever stubborn=yes deadline=4s grace=1s
      2s   says 1-1 0 new-data
      1min end
      """,
      gives: """
        0s  start 1-1 todo (interval)
        4s  terminate 1-1 todo (deadline)
        5s  kill 1-1 todo
        5s  end 1-1 todo new-data (deadline)
        """)
  }

  @Test func `Exit 0 after SIGTERM is no success`() throws {
    try expect(
      """
      0s   configure todo takes=forever stubborn=yes
      32s  ends 1-1 0 exit=0
      """,
      gives: """
        0s   start 1-1 todo (interval)
        25s  warn 1-1 todo
        30s  terminate 1-1 todo (deadline)
        32s  end 1-1 todo failed stopped by deadline (deadline)
        """)
  }

  @Test func `The end of a task keeps its name, duration, processor time and last line`() throws {
    let todo = try appID("todo")
    let policy = Policy(tasks: [TaskPolicy(name: "pull"), TaskPolicy(name: "push")])
    var engine = Engine(start: 3, spread: Spread(machine: 1), states: [:], wallOffset: .zero)
    let begin = Instant(microseconds: 5_000_000)
    _ = engine.handle(.configured(Limits(), [todo: policy]), at: begin)
    let id = RefreshID(start: 3, number: 1)
    let end = TaskEnd(exit: .exited(0), cpu: .milliseconds(300), message: "12 new mails")
    _ = engine.handle(.taskEnded(id, task: 1, end), at: begin + .seconds(2))
    _ = engine.handle(.completed(id, task: 0, .noData, message: "nothing"), at: begin + .seconds(3))
    let decision = engine.handle(.taskEnded(id, task: 0, end), at: begin + .seconds(4))
    #expect(
      decision.changes.history.refreshes == [
        RefreshRecord(
          id: id, app: todo, trigger: .interval, startedAt: begin, endedAt: begin + .seconds(4), outcome: .newData,
          tasks: [
            TaskRecord(
              name: "pull", outcome: .noData, duration: .seconds(4), cpu: .milliseconds(300), message: "nothing"),
            TaskRecord(
              name: "push", outcome: .newData, duration: .seconds(2), cpu: .milliseconds(300),
              message: "12 new mails"),
          ])
      ])
  }
}
