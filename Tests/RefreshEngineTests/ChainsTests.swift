import RefreshEngine
import Testing

/// Tasks of one app may come after others, still under one deadline.
@Suite struct ChainsTests {
  @Test func `A task starts when the one that it comes after has ended well`() throws {
    try expect(
      """
      0s   configure todo tasks=pull,index>pull,notify>index takes=2s
      1min end
      """,
      gives: """
        0s  start 1-1 todo (interval)
        2s  start-task 1-1 index
        4s  start-task 1-1 notify
        6s  end 1-1 todo new-data [pull new-data, index new-data, notify new-data]
        """)
  }

  @Test func `No data is a good end too`() throws {
    try expect(
      """
      0s   configure todo tasks=pull,index>pull exit=100
      1min end
      """,
      gives: """
        0s  start 1-1 todo (interval)
        1s  start-task 1-1 index
        2s  end 1-1 todo no-data [pull no-data, index no-data]
        """)
  }

  @Test func `A task that comes after two starts after the later of them, wherever they stand in the file`() throws {
    try expect(
      """
      0s   configure todo tasks=index>mail>news,mail,news takes=forever
      1s   ends 1-1 1 exit=0
      5s   ends 1-1 2 exit=100
      6s   ends 1-1 0 exit=0
      """,
      gives: """
        0s  start 1-1 todo (interval)
        5s  start-task 1-1 index
        6s  end 1-1 todo new-data [index new-data, mail new-data, news no-data]
        """)
  }

  @Test func `What a failed task was to be followed by is not run, and the failure is the outcome`() throws {
    try expect(
      """
      0s   configure todo tasks=notify>index,index>pull,pull,push takes=forever
      1s   ends 1-1 2 exit=75
      2s   ends 1-1 3 exit=100
      """,
      gives: """
        0s  start 1-1 todo (interval)
        2s  end 1-1 todo failed temporary 75 \
        [notify failed not run after pull, index failed not run after pull, pull failed temporary 75, push no-data]
        """)
  }

  @Test func `What the task says stands before how it ends, also for those after it`() throws {
    try expect(
      """
      0s   configure todo tasks=pull,index>pull takes=forever
      1s   says 1-1 0 no-data
      2s   ends 1-1 0 exit=1
      3s   ends 1-1 1 exit=0
      """,
      gives: """
        0s  start 1-1 todo (interval)
        2s  start-task 1-1 index
        3s  end 1-1 todo new-data [pull no-data, index new-data]
        """)
  }

  @Test func `One deadline holds for all of them`() throws {
    try expect(
      """
      0s   configure todo tasks=pull,index>pull,notify>index takes=forever stubborn=yes
      20s  ends 1-1 0 exit=0
      1min end
      """,
      gives: """
        0s   start 1-1 todo (interval)
        20s  start-task 1-1 index
        25s  warn 1-1 todo
        30s  terminate 1-1 todo (deadline)
        35s  kill 1-1 todo
        35s  end 1-1 todo failed stopped by deadline (deadline) \
        [pull new-data, index failed stopped by deadline, notify failed stopped by deadline]
        """)
  }

  @Test(arguments: [
    ("logout todo", "logout"), ("disable todo", "user"), ("stop", "shutdown"),
  ])
  func `Nothing starts after a stop, also if what ran ends well`(stop: String, reason: String) throws {
    try expect(
      """
      0s  configure todo tasks=pull,index>pull takes=forever stubborn=yes
      1s  says 1-1 0 no-data
      2s  \(stop)
      3s  ends 1-1 0 exit=0
      """,
      gives: """
        0s  start 1-1 todo (interval)
        2s  terminate 1-1 todo (\(reason))
        3s  end 1-1 todo failed stopped by \(reason) (\(reason)) \
        [pull no-data, index failed stopped by \(reason)]
        """)
  }

  @Test func `A crash in the middle is one outcome, and all of the chain runs again`() throws {
    try expect(
      """
      0s   configure todo tasks=pull,index>pull takes=2s
      3s   down
      10s  up
      1min end
      """,
      gives: """
        0s   start 1-1 todo (interval)
        2s   start-task 1-1 index
        10s  end 1-1 todo failed crashed
        10s  start 2-1 todo (retry)
        12s  start-task 2-1 index
        14s  end 2-1 todo new-data [pull new-data, index new-data]
        """)
  }

  @Test func `The duration of a task is its own, and one that was not run has none`() throws {
    let todo = try appID("todo")
    var (index, notify) = (TaskPolicy(name: "index"), TaskPolicy(name: "notify"))
    (index.after, notify.after) = ([0], [1])
    let policy = Policy(tasks: [TaskPolicy(name: "pull"), index, notify])
    var engine = Engine(start: 1, spread: Spread(machine: 1), states: [:], wallOffset: .zero)
    let begin = Instant(microseconds: 5_000_000)
    _ = engine.handle(.configured(Limits(), [todo: policy]), at: begin)
    let id = RefreshID(start: 1, number: 1)
    _ = engine.handle(.taskEnded(id, task: 0, TaskEnd(exit: .exited(0))), at: begin + .seconds(4))
    // A task that has not started can neither report nor end.
    _ = engine.handle(.completed(id, task: 2, .newData, message: ""), at: begin + .seconds(5))
    _ = engine.handle(.taskEnded(id, task: 2, TaskEnd(exit: .exited(0))), at: begin + .seconds(5))
    let decision = engine.handle(.taskEnded(id, task: 1, TaskEnd(exit: .exited(1))), at: begin + .seconds(7))
    let record = try #require(decision.changes.history.refreshes.first)
    #expect(record.tasks.map(\.duration) == [.seconds(4), .seconds(3), .zero])
    #expect(record.tasks.last?.outcome == .failed(.notRun(after: "index")))
    #expect(record.extraCompletions == 0)
  }
}
