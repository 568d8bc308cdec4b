import RefreshEngine
import Testing

/// An interrupted push is delivered again, and an outdated one is not.
@Suite struct PushesAgainTests {
  @Test func `What a crash, a shutdown or a passing failure cut off is told again, and costs the limit nothing`() throws
  {
    try expect(
      """
      0s    configure todo foreground=never background=never takes=10s pushes=1/2
      0s    network wired
      0s    power mains
      1s    push 1 todo a
      2s    down
      3s    up
      3s    power mains
      1min  configure todo foreground=never background=never takes=10s exit=75 pushes=1/2
      1min  push 2 todo b urgency=high
      2min  configure todo foreground=never background=never takes=10s pushes=1/2
      5min  push 3 todo c urgency=high
      6min  pushes todo
      """,
      gives: """
        1s   start 1-1 todo (push a#1)
        3s   end 1-1 todo failed crashed
        3s   start 2-1 todo (push a#1)
        13s  end 2-1 todo new-data
        1min start 2-2 todo (push b#2)
        1min10s end 2-2 todo failed temporary 75
        1min45s377ms791us start 2-3 todo (push b#2)
        1min55s377ms791us end 2-3 todo failed temporary 75
        3min1s549ms781us start 2-4 todo (push b#2)
        3min11s549ms781us end 2-4 todo new-data
        6min pushes todo: c#3 not before 2h1s
        """, only: ["start", "end", "pushes"])
  }

  @Test func `A push that comes back finds its place, so no more than sixty-four ever wait`() throws {
    let pushes = (2...80).map { "1s push \($0) todo n\($0)" }.joined(separator: "\n")
    var timeline = Timeline()
    try timeline.play(
      Script(
        "0s configure todo foreground=never background=never takes=1h pushes=9/9\n0s power mains\n"
          + "0s push 1 todo n1\n\(pushes)\n2s down\n3s up\n3s end"))
    let engine = try #require(timeline.engine)
    let todo = try appID("todo")
    #expect(engine.pushes(of: todo).count == 64, "the one that the crash cut short is among them")
    #expect(engine.pushes(of: todo).first?.contentID == "n1")
    #expect(timeline.trace.count { $0.contains(" drop ") } == 16)
  }

  @Test func `An older payload that comes back is not told after a newer one about the same`() throws {
    try expect(
      """
      0s    configure todo foreground=never background=never takes=10s exit=75
      0s    power mains
      1s    push 1 todo a
      2s    push 2 todo a
      3s    push 3 todo b
      20s   configure todo foreground=never background=never takes=10s
      5min  end
      """,
      gives: """
        1s  start 1-1 todo (push a#1)
        11s start 1-2 todo (push a#2)
        21s start 1-3 todo (push b#3)
        1min27s171ms990us start 1-4 todo (push a#2)
        """, only: ["start"])
  }

  @Test func `A push that the user's word cut off is told when that holds no more`() throws {
    try expect(
      """
      0s   configure todo foreground=never background=never takes=10s
      0s   power mains
      1s   push 1 todo a
      2s   disable todo
      1min enable todo
      2min push 2 todo b
      121s logout todo
      3min login todo
      4min push 3 todo c
      241s configure mail foreground=never background=never
      5min configure todo foreground=never background=never takes=10s
      6min end
      """,
      gives: """
        1s   start 1-1 todo (push a#1)
        1min start 1-2 todo (push a#1)
        2min start 1-3 todo (push b#2)
        3min start 1-4 todo (push b#2)
        4min start 1-5 todo (push c#3)
        5min start 1-6 todo (push c#3)
        """, only: ["start"])
  }

  @Test func `A refresh that could not be started has told nothing`() throws {
    try expect(
      """
      0s    configure todo foreground=never background=never takes=forever
      0s    power mains
      1s    push 1 todo a
      1s    ends 1-1 0 not-started
      1min  end
      """,
      gives: """
        1s start 1-1 todo (push a#1)
        1s end 1-1 todo failed spawn: no such program
        36s377ms791us start 1-2 todo (push a#1)
        """, only: ["start", "end"])
  }
}
