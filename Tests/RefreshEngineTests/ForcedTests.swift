import RefreshEngine
import Testing

/// A person's refresh against the constraints of an app.
@Suite struct ForcedTests {
  @Test func `A refresh that a person forces starts and goes on against every constraint`() throws {
    try expect(
      """
      0s     network metered
      0s     power battery
      0s     idle no
      0s     calm no
      0s     configure todo background=24h network=unmetered power=ac idle=yes calm=yes takes=20s
      1min   run todo
      2min   why todo
      3min   run-anyway todo
      3min10s network gone
      20min  end
      """,
      gives: """
        2min   why todo: held network, power, idle, calm
        3min   start 1-1 todo (manual)
        3min20s end 1-1 todo new-data
        """, only: ["start", "end", "why"])
  }

  @Test func `It is one refresh: the next manual one waits for the constraints again`() throws {
    try expect(
      """
      0s     network metered
      0s     configure todo background=24h network=unmetered takes=10s
      1min   run-anyway todo
      2min   run todo
      3min   why todo
      4min   end
      """,
      gives: """
        1min   start 1-1 todo (manual)
        1min10s end 1-1 todo new-data
        3min   why todo: held network
        """, only: ["start", "end", "why"])
  }

  @Test func `One that is asked for while the app is refreshed follows, and does not keep the running one`() throws {
    try expect(
      """
      0s     network wired
      0s     configure todo background=24h network=unmetered takes=20s
      5s     run-anyway todo
      10s    network metered
      30min  end
      """,
      gives: """
        0s     start 1-1 todo (interval)
        16s    end 1-1 todo failed stopped by constraint-lost (constraint-lost)
        16s    start 1-2 todo (manual)
        36s    end 1-2 todo new-data
        """, only: ["start", "end"])
  }

  @Test func `It outlives the daemon while it waits and while it runs`() throws {
    try expect(
      """
      0s     network unmetered
      0s     configure todo background=24h network=unmetered takes=20s
      5s     run-anyway todo
      7s     down
      8s     up
      10s    down leaving-tasks
      11s    up
      12s    network metered
      30min  end
      """,
      gives: """
        0s     start 1-1 todo (interval)
        8s     end 1-1 todo failed crashed
        8s     start 2-1 todo (manual)
        28s    end 2-1 todo new-data
        """, only: ["start", "end"])
  }

  @Test func `It does not pass the switch of the user, and is forgotten with it`() throws {
    try expect(
      """
      0s     network metered
      0s     configure todo background=24h network=unmetered takes=10s
      1min   disable todo
      1min   run-anyway todo
      2min   enable todo
      2min   run todo
      3min   why todo
      4min   end
      """,
      gives: """
        3min   why todo: held network
        """, only: ["start", "end", "why"])
  }

  @Test func `A switch of the user that drops it drops the force too: the next manual one waits again`() throws {
    try expect(
      """
      0s     network unmetered
      0s     configure todo background=24h network=unmetered takes=20s
      5s     run-anyway todo
      6s     disable todo
      1min   network metered
      2min   enable todo
      2min   run todo
      3min   why todo
      4min   end
      """,
      gives: """
        3min   why todo: held network
        """, only: ["why"])
  }

  @Test(arguments: [false, true])
  func `A switch that could not be stored gives it back with its force`(isLogout: Bool) throws {
    let todo = try #require(AppID("org.example.todo"))
    let now = Instant(microseconds: 1_000_000)
    var engine = Engine(start: 1, spread: Spread(machine: 7), states: [:], wallOffset: .zero)
    // An app without tasks waits for a process that attaches.
    _ = engine.handle(.configured(Limits(), [todo: Policy(tasks: [])]), at: now)
    _ = engine.handle(.forced(todo), at: now)
    let change = isLogout ? Event.signalled(todo, .logout) : .disabled(todo, true)
    let undo = engine.undo(of: [change])
    _ = engine.handle(change, at: now)
    #expect(engine.state(of: todo)?.isForced == false)
    for event in undo { _ = engine.handle(event, at: now) }
    #expect(engine.state(of: todo)?.isForced == true)
    #expect(engine.state(of: todo)?.request?.trigger == .manual)
  }
}
