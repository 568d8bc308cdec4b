import RefreshEngine
import Testing

/// The user's switches stand above the schedule.
@Suite struct UserSwitchesTests {
  @Test func `A disabled app starts for nobody, and its schedule is there when it is enabled`() throws {
    try expect(
      """
      0s    configure todo background=1h
      10min disable todo
      20min run todo
      90min why todo
      2h    enable todo
      """,
      gives: """
        0s start 1-1 todo (interval)
        1h30min why todo: held disabled
        2h start 1-2 todo (interval)
        """, only: ["start", "why"])
  }

  @Test func `The history says who stopped a refresh: the user's switch, or the file that is gone`() throws {
    for (command, reason) in [("disable todo", "user"), ("configure mail background=never", "unconfigured")] {
      try expect(
        """
        0s    configure todo background=1h takes=forever
        10s   \(command)
        20s   end
        """,
        gives: "10s terminate 1-1 todo (\(reason))", only: ["terminate"])
    }
  }

  @Test func `A pause holds what time and pushes ask for, not a person`() throws {
    try expect(
      """
      0s    configure todo background=1h
      10min pause
      20min run todo push
      21min why todo
      22min run todo
      90min unpause
      """,
      gives: """
        0s start 1-1 todo (interval)
        21min why todo: held paused
        22min start 1-2 todo (manual)
        1h30min start 1-3 todo (interval)
        """, only: ["start", "why"])
  }

  @Test func `A request that calls wait for outlives a change of phase, as a manual one`() throws {
    for (command, starts) in [("await", "20s start 1-2 todo (manual)"), ("unawait", "")] {
      try expect(
        """
        0s    configure todo takes=20s background=1h
        5s    run todo foreground
        6s    \(command) todo
        10s   foreground todo
        1min  end
        """,
        gives: """
          0s start 1-1 todo (interval)
          \(starts)
          """, only: ["start"])
    }
  }

  @Test func `The holds that last are those of the verdict, suspending and not-configured among them`() throws {
    let todo = try #require(AppID("org.example.todo"))
    var engine = Engine(start: 1, spread: Spread(machine: 7), states: [:], wallOffset: .zero)
    let now = Instant(microseconds: 0)
    #expect(engine.lastingHolds(on: todo) == [.notConfigured])
    _ = engine.handle(.configured(Limits(), [todo: Policy(tasks: [TaskPolicy(name: "refresh")])]), at: now)
    #expect(engine.lastingHolds(on: todo).isEmpty)
    _ = engine.handle(.suspending(until: now + .seconds(5)), at: now)
    #expect(engine.lastingHolds(on: todo) == [.suspending])
    _ = engine.handle(.disabled(todo, true), at: now)
    _ = engine.handle(.signalled(todo, .logout), at: now)
    _ = engine.handle(.stopped(leaving: []), at: now)
    #expect(engine.lastingHolds(on: todo) == [.loggedOut, .disabled, .stopping, .suspending])
    _ = engine.handle(.configured(Limits(), [:]), at: now)
    #expect(engine.lastingHolds(on: todo).first == .notConfigured)
  }

  @Test func `A skip passes over one refresh by time`() throws {
    try expect(
      """
      0s    configure todo background=1h
      10min skip todo
      3h10min end
      """,
      gives: """
        0s start 1-1 todo (interval)
        2h start 1-2 todo (interval)
        3h start 1-3 todo (interval)
        """, only: ["start"])
  }

  @Test(arguments: ["run todo", "push 1 todo", "change todo"])
  func `A refresh by another trigger does not end a skip`(other: String) throws {
    var timeline = Timeline()
    try timeline.play(
      Script(
        """
        0s    network wired
        0s    power mains
        0s    configure todo background=1h watch=30s
        10min skip todo
        20min \(other)
        3h31min end
        """))
    let starts = timeline.trace.filter { $0.contains(" start ") && $0.hasSuffix("(interval)") }
    #expect(
      starts.map { $0.prefix { $0 != " " } } == ["0s", "2h", other == "change todo" ? "3h20min30s" : "3h20min"],
      "\(timeline.trace)")
  }

  @Test func `A one-shot starts once, at its time`() throws {
    try expect(
      """
      0s    configure todo background=24h
      10min schedule todo 1h
      20min schedule todo 2h
      6h    end
      """,
      gives: """
        0s start 1-1 todo (interval)
        2h20min start 1-2 todo (manual)
        """, only: ["start"])
  }

  @Test(arguments: ["pause", "wake"])
  func `A one-shot starts at its time although time may start nothing`(word: String) throws {
    try expect(
      """
      0s    configure todo background=1h quiet=30min-7h
      10min \(word)
      10min schedule todo 1h
      6h    end
      """,
      gives: """
        0s start 1-1 todo (interval)
        1h10min start 1-2 todo (manual)
        """, only: ["start"])
  }

  @Test func `A skip for a time passes over all refreshes by time and every retry`() throws {
    try expect(
      """
      0s    configure todo background=1h takes=forever
      1s    ends 1-1 0 exit=75
      2s    skip-all todo 5h
      1h    run todo
      1h1s  ends 1-2 0 exit=75
      5h2s  end
      """,
      gives: """
        0s start 1-1 todo (interval)
        1h start 1-2 todo (manual)
        5h2s start 1-3 todo (retry)
        """, only: ["start"])
  }

  @Test func `A skip of one refresh may be ended before`() throws {
    try expect(
      """
      0s    configure todo background=1h
      10min skip todo
      20min ahead todo
      30min skip-all todo
      30min ahead todo
      """,
      gives: """
        20min ahead todo: due 2h-2h3min50s87ms625us (interval), starts 2h-2h3min50s87ms625us
        30min ahead todo: due 1h-1h3min50s87ms625us (interval), starts 1h-1h3min50s87ms625us
        """, only: ["ahead"])
  }

  @Test func `A skip for a time may be ended before`() throws {
    try expect(
      """
      0s    configure todo background=1h takes=forever
      1s    ends 1-1 0 exit=0
      2s    skip-all todo 9h
      2h    skip-all todo
      2h    end
      """,
      gives: """
        0s start 1-1 todo (interval)
        2h start 1-2 todo (interval)
        """, only: ["start"])
  }

  @Test func `The end of a skip for a time lets a retry go, one from before it and one from during it`() throws {
    for failure in ["1s    ends 1-1 0 exit=75\n2s    skip-all todo 9h", "1s skip-all todo 9h\n2s ends 1-1 0 exit=75"] {
      try expect(
        """
        0s    configure todo background=4h takes=forever
        \(failure)
        2h    skip-all todo
        3h    end
        """,
        gives: """
          0s start 1-1 todo (interval)
          2h start 1-2 todo (retry)
          """, only: ["start"])
    }
  }

  @Test func `A change starts a refresh while a retry waits for the end of a skip`() throws {
    try expect(
      """
      0s    configure todo background=1h takes=forever watch=30s
      1s    skip-all todo 9h
      2s    ends 1-1 0 exit=75
      2h    change todo
      3h    end
      """,
      gives: """
        0s start 1-1 todo (interval)
        2h30s start 1-2 todo (change)
        """, only: ["start"])
  }

  @Test func `A retry from before a skip for a time is due at its end`() throws {
    try expect(
      """
      0s    configure todo background=1h takes=forever
      1s    ends 1-1 0 exit=75
      2s    skip-all todo 5h
      6h    end
      """,
      gives: """
        0s start 1-1 todo (interval)
        5h2s start 1-2 todo (retry)
        6h start 1-3 todo (interval)
        """, only: ["start"])
  }

  @Test func `A refresh that a crash lost is tried again at the end of a skip for a time`() throws {
    try expect(
      """
      0s    configure todo background=1h takes=forever
      1s    skip-all todo 5h
      2s    down
      3s    up
      6h    end
      """,
      gives: """
        0s start 1-1 todo (interval)
        5h1s start 2-1 todo (retry)
        6h start 2-2 todo (interval)
        """, only: ["start"])
  }

  @Test(arguments: ["stale", "always", "never"])
  func `Opening an app during a skip for a time starts no refresh by time`(rule: String) throws {
    let opened = rule == "never" ? "" : "2h start 1-2 todo (foreground)"
    try expect(
      """
      0s    configure todo background=1h foreground=10min on=\(rule) takes=10s
      1min  skip-all todo 5h
      2h    foreground todo
      5h5min end
      """,
      gives: """
        0s start 1-1 todo (interval)
        \(opened)
        5h1min start 1-\(rule == "never" ? 2 : 3) todo (interval)
        """, only: ["start"])
  }

  @Test func `A skip of one refresh makes a skip for a time no longer`() throws {
    try expect(
      """
      0s    configure todo background=1h
      1min  skip-all todo 5h
      2min  skip todo
      6h    end
      """,
      gives: """
        0s start 1-1 todo (interval)
        5h1min start 1-2 todo (interval)
        6h start 1-3 todo (interval)
        """, only: ["start"])
  }

  @Test func `A second skip changes nothing while the first one's refresh is still ahead`() throws {
    try expect(
      """
      0s    configure todo background=1h
      10min skip todo
      20min skip todo
      50min skip todo
      2h10min skip todo
      4h10min end
      """,
      gives: """
        0s start 1-1 todo (interval)
        2h start 1-2 todo (interval)
        4h start 1-3 todo (interval)
        """, only: ["start"])
  }
}
