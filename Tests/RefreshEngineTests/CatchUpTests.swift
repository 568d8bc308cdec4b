import RefreshEngine
import Testing

/// Catch-up after a restart of the daemon and after a reboot.
@Suite struct CatchUpTests {
  @Test func `A daemon that was killed gives its refresh an outcome and tries once more`() throws {
    try expect(
      """
      0s   configure todo background=1h takes=20s
      10s  down
      11s  up
      2min end
      """,
      gives: """
        0s   start 1-1 todo (interval)
        11s  end 1-1 todo failed crashed
        11s  start 2-1 todo (retry)
        31s  end 2-1 todo new-data
        """)
  }

  @Test func `What brings the daemon down twice waits for its interval`() throws {
    try expect(
      """
      0s   configure todo background=1h takes=20s
      10s  down
      11s  up
      15s  down
      16s  up
      17s  why todo
      """,
      gives: """
        0s   start 1-1 todo (interval)
        11s  end 1-1 todo failed crashed
        11s  start 2-1 todo (retry)
        16s  end 2-1 todo failed crashed
        17s  why todo: not due until 1h
        """)
  }

  @Test func `What was lost while the app was being logged out is not tried again`() throws {
    try expect(
      """
      0s     configure todo background=1h takes=20s
      10s    logout todo
      10s    down
      11s    up
      1min   login todo
      1min   why todo
      """,
      gives: """
        0s    start 1-1 todo (interval)
        10s   terminate 1-1 todo (logout)
        11s   end 1-1 todo failed crashed
        1min  why todo: not due until 1h
        """)
  }

  @Test func `A stopping daemon ends what runs, starts nothing, and the next one runs it again`() throws {
    try expect(
      """
      0s   configure todo takes=forever stubborn=yes
      10s  stop
      10s  stop
      11s  run todo
      11s  why todo
      16s  why todo
      20s  down
      30s  up
      31s  end
      """,
      gives: """
        0s   start 1-1 todo (interval)
        10s  terminate 1-1 todo (shutdown)
        11s  why todo: refreshing 1-1
        15s  kill 1-1 todo
        15s  end 1-1 todo failed stopped by shutdown (shutdown)
        16s  why todo: held stopping
        30s  start 2-1 todo (manual)
        """)
  }

  @Test func `What a stopping daemon cut short runs again even where the interval is never`() throws {
    try expect(
      """
      0s   configure todo background=never foreground=never takes=10s
      1s   run todo
      2s   stop
      4s   down
      5s   up
      5s   foreground todo
      """,
      gives: """
        1s  start 1-1 todo (manual)
        5s  start 2-1 todo (retry)
        """, only: ["start"])
  }

  @Test(arguments: [
    // The machine was off from 10 min to here; the clock was wrong by this much at the boot; then.
    ("30min", "0s", "not due until 1h"),
    ("3h", "0s", "refreshing 2-1"),
    ("30min", "+25min", "not due until 35min"),
    ("30min", "+40min", "refreshing 2-1"),
    ("30min", "-20min", "not due until 1h20min"),
    ("30min", "-10h", "not due until 1h30min"),
  ])
  func `A reboot goes on from wall time, and never waits longer than one interval`(
    boot: String, clock: String, verdict: String
  ) throws {
    try expect(
      """
      0s        configure todo background=1h
      10min     down
      \(boot)   clock \(clock)
      \(boot)   boot
      \(boot)   why todo
      """, gives: "\(boot) why todo: \(verdict)", only: ["why"])
  }

  @Test(arguments: ["+10h", "-10h"])
  func `A step of the clock moves nothing within a boot, also across a restart`(step: String) throws {
    try expect(
      """
      0s     configure todo background=1h
      10min  clock \(step)
      10min  why todo
      11min  down
      12min  up
      12min  why todo
      """,
      gives: """
        10min  why todo: not due until 1h
        12min  why todo: not due until 1h
        """, only: ["why"])
  }

  @Test func `Login, switches and phases stay over a reboot`() throws {
    try expect(
      """
      0s     configure mail
      0s     configure mail; news
      0s     configure mail; news; todo
      1min   logout mail
      1min   foreground news
      2min   down
      3min   boot
      3min   why mail
      3min   why news
      3min   why todo
      """,
      gives: """
        3min   why mail: held logged-out
        3min   why news: not due until 5min
        3min   why todo: not due until 1d
        """, only: ["why"])
  }

  @Test func `The app that the user looks at does not wait for the backlog`() throws {
    try expect(
      """
      0s      configure a background=1h
      0s      configure a background=1h; b background=1h
      0s      configure a background=1h; b background=1h; c background=1h
      1min    foreground c
      2min    down
      5h      boot
      5h4s    end
      """,
      gives: """
        0s             start 1-1 a (interval)
        0s             start 1-2 b (interval)
        0s             start 1-3 c (interval)
        5h             start 2-1 c (interval)
        5h98ms963us    start 2-2 b (catch-up)
        5h823ms136us   start 2-3 a (catch-up)
        """, only: ["start"])
  }

  @Test(arguments: [2, 10, 100, 1000])
  func `A backlog is spread over minutes, the same way after every boot`(count: Int) throws {
    let apps = try (0..<count).map { try appID("a\($0)") }
    let policy = Policy(backgroundInterval: .every(.hours(24)), tasks: [TaskPolicy(name: "task")])
    let policies = Dictionary(uniqueKeysWithValues: apps.map { ($0, policy) })
    let stale = AppState(lastStart: Instant(microseconds: -1) - .hours(48))
    func offsets(bootedFor microseconds: Int64) -> [Duration] {
      let states = Dictionary(uniqueKeysWithValues: apps.map { ($0, stale) })
      var engine = Engine(start: 2, spread: Spread(machine: 5), states: states, wallOffset: .zero)
      let now = Instant(microseconds: microseconds)
      #expect(engine.handle(.configured(Limits(), policies), at: now).effects.count <= 1)
      return apps.compactMap { app in
        switch engine.verdict(on: app, at: now) {
        case .notDue(let due): now.duration(to: due.window.earliest)
        case .refreshing: .zero
        default: nil
        }
      }
    }
    let first = offsets(bootedFor: 3_000_000)
    #expect(first == offsets(bootedFor: 77_000_000))
    #expect(first.count == count)
    #expect(first.allSatisfy { $0 >= .zero && $0 <= min(.minutes(5), .seconds(count - 1)) })
    let perSecond = Dictionary(grouping: first) { $0.components.seconds }.values.map(\.count).max() ?? 0
    #expect(perSecond <= max(6, 4 * count / 300))
  }

  @Test func `A reboot in the middle of a backlog spreads the rest of it again`() throws {
    var config = (0..<40).map { "a\($0) background=1h" }
    config[0] = "configure " + config[0]
    var timeline = Timeline()
    try timeline.play(
      Script("0s \(config.joined(separator: " ; "))\n50s down\n5h boot\n5h10s down\n5h20s boot\n5h20s end"))
    let atOnce = timeline.trace.filter { $0.hasPrefix("5h20s start") }
    #expect(atOnce.count <= 1, "\(atOnce)")
    try timeline.play(Script("5h1min30s end"))
    let caughtUp = timeline.trace.filter { $0.hasPrefix("5h") && $0.contains("start") }
    #expect(Set(caughtUp.map { $0.split(separator: " ")[3] }).count == 40)
  }

  @Test func `What a killed daemon lost all at once is not tried again all at once`() throws {
    let apps = (0..<40).map { "a\($0) takes=forever deadline=10min" }.joined(separator: " ; ")
    var timeline = Timeline()
    try timeline.play(Script("0s configure \(apps)\n2min down\n3min up\n3min end"))
    #expect(timeline.trace.filter { $0.hasPrefix("3min end") }.count == 40)
    #expect(timeline.trace.filter { $0.hasPrefix("3min start") }.count <= 1)
    try timeline.play(Script("4min end"))
    #expect(timeline.trace.filter { $0.hasSuffix("(retry)") }.count == 40)
  }
}
