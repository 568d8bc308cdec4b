import RefreshEngine
import Testing

/// Forecasts, by the same engine on virtual time.
@Suite struct ForecastTests {
  @Test func `What is foretold is what happens, skips, one-shots and quiet hours included`() throws {
    let script = """
      0s     configure todo background=1h takes=0s exit=100; mail background=3h quiet=4h-6h takes=0s exit=100
      10min  schedule mail 20min
      20min  run todo
      25min  skip todo

      """
    var timeline = Timeline()
    try timeline.play(Script(script + "26min end"))
    let forecast = Forecast(of: try #require(timeline.engine), for: .hours(12), at: timeline.instant)
    let foretold = forecast.wakes.flatMap { wake in
      wake.starts.map { "\(timeline.timeText(wake.window.earliest)) \($0.app.name) (\($0.trigger.rawValue))" }
    }
    try timeline.play(Script("12h26min end"))
    let happened = timeline.trace.compactMap { line -> String? in
      let words = line.split(separator: " ").map(String.init)
      return words[1] == "start" ? [words[0], words[3], words[4]].joined(separator: " ") : nil
    }
    #expect(foretold.count > 12)
    #expect(foretold == Array(happened.dropFirst(3)))
  }

  @Test func `Windows that overlap are one wake`() throws {
    try expect(
      """
      0s    configure todo background=1h; mail background=1h
      1min  forecast 2h
      """,
      gives: """
        1min forecast 1h290ms487us-1h3min50s365ms889us: todo (interval), mail (interval)
        1min forecast 2h290ms487us-2h3min50s365ms889us: todo (interval), mail (interval)
        """, only: ["forecast"])
  }

  @Test func `What quiet hours hold starts at their end`() throws {
    try expect(
      """
      0s    configure todo background=1h quiet=2h-5h
      90min forecast 5h
      """,
      gives: """
        1h30min forecast 5h1min23s479ms375us: todo (interval)
        1h30min forecast 6h-6h3min50s87ms625us: todo (interval)
        """, only: ["forecast"])
  }

  @Test func `An app that does not start is told with its reason`() throws {
    try expect(
      """
      0s    configure day background=24h; never background=never; off background=1h; out background=1h
      1min  disable off
      1min  logout out
      2min  forecast 12h
      """,
      gives: """
        2min forecast day: not due until 1d430ms794us
        2min forecast never: held never
        2min forecast off: held disabled
        2min forecast out: held logged-out
        """, only: ["forecast"])
  }

  @Test func `A pause holds all of them`() throws {
    try expect(
      """
      0s    configure todo background=1h
      1min  pause
      2min  forecast 12h
      """,
      gives: "2min forecast todo: held paused", only: ["forecast"])
  }

  @Test func `What runs ends at once, without a failure`() throws {
    try expect(
      """
      0s    configure todo background=1h takes=forever tasks=pull,push
      10s   forecast 90min
      """,
      gives: "10s forecast 1h-1h3min50s87ms625us: todo (interval)", only: ["forecast"])
  }

  @Test func `To look ahead changes nothing`() throws {
    let script = "0s configure todo background=1h; mail background=2h exit=75\n"
    var (asked, left) = (Timeline(), Timeline())
    try asked.play(Script(script + "1min forecast 168h\n5h end"))
    try left.play(Script(script + "5h end"))
    #expect(asked.trace.filter { !$0.contains("forecast") } == left.trace)
  }

  @Test func `An interval of moments is cut where nobody reads on`() throws {
    let app = try appID("todo")
    var engine = Engine(start: 1, spread: Spread(machine: 1), states: [:], wallOffset: .zero)
    var policy = Policy(foregroundInterval: .every(.milliseconds(1)), tasks: [TaskPolicy(name: "task")])
    policy.backgroundInterval = .never
    let limits = Limits(foregroundFloor: .milliseconds(1))
    _ = engine.handle(.configured(limits, [app: policy]), at: Instant(microseconds: 0))
    _ = engine.handle(.signalled(app, .foreground), at: Instant(microseconds: 0))
    let forecast = Forecast(of: engine, for: .hours(168), at: Instant(microseconds: 1))
    #expect(forecast.isCut)
    #expect(forecast.wakes.flatMap(\.starts).count == Forecast.mostStarts)
    #expect(forecast.end == forecast.wakes.last?.window.earliest)
  }

  @Test func `A wake of a whole fleet is cut as well`() throws {
    let ids = try (0..<Forecast.mostStarts + 10).map { try appID("fleet\($0)") }
    var engine = Engine(start: 1, spread: Spread(machine: 1), states: [:], wallOffset: .zero)
    let policy = Policy(backgroundInterval: .every(.hours(24)), tasks: [TaskPolicy(name: "task")])
    let policies = Dictionary(uniqueKeysWithValues: ids.map { ($0, policy) })
    _ = engine.handle(.paused(.untilResumed), at: Instant(microseconds: 0))
    _ = engine.handle(.configured(Limits(), policies), at: Instant(microseconds: 0))
    _ = engine.handle(.wokeUp, at: Instant(microseconds: 0) + .minutes(10))
    _ = engine.handle(.paused(nil), at: Instant(microseconds: 0) + .minutes(10))
    let forecast = Forecast(of: engine, for: .hours(48), at: Instant(microseconds: 0) + .minutes(10))
    #expect(forecast.isCut)
    #expect(forecast.wakes.map(\.starts.count) == [Forecast.mostStarts])
    #expect(forecast.rest.isEmpty)
  }

  @Test func `An app is forecast to the end although another one starts all the time`() throws {
    let (todo, busy) = (try appID("todo"), try appID("busy"))
    var engine = Engine(start: 1, spread: Spread(machine: 1), states: [:], wallOffset: .zero)
    let policy = Policy(backgroundInterval: .every(.hours(1)), tasks: [TaskPolicy(name: "task")])
    var often = policy
    often.foregroundInterval = .every(.seconds(1))
    let limits = Limits(foregroundFloor: .seconds(1))
    _ = engine.handle(.configured(limits, [todo: policy, busy: often]), at: Instant(microseconds: 0))
    _ = engine.handle(.signalled(busy, .foreground), at: Instant(microseconds: 0))
    let forecast = Forecast(of: engine, apps: [todo], for: .hours(48), at: Instant(microseconds: 0))
    #expect(!forecast.isCut)
    let alone = try #require(forecast.aloneFrom)
    #expect(alone < forecast.end)
    #expect((47...49).contains(forecast.wakes.flatMap(\.starts).count))
    #expect(forecast.wakes.flatMap(\.starts).allSatisfy { $0.app == todo })
  }

  @Test func `Only the apps that are asked about are told, at the times that all of them give`() throws {
    let ids = try ["todo", "mail"].map(appID)
    var engine = Engine(start: 1, spread: Spread(machine: 1), states: [:], wallOffset: .zero)
    let policy = Policy(backgroundInterval: .every(.hours(1)), tasks: [TaskPolicy(name: "task")])
    let policies = [ids[0]: policy, ids[1]: policy]
    _ = engine.handle(.configured(Limits(), policies), at: Instant(microseconds: 0))
    let all = Forecast(of: engine, for: .hours(24), at: Instant(microseconds: 0))
    let one = Forecast(of: engine, apps: [ids[0]], for: .hours(24), at: Instant(microseconds: 0))
    #expect(one.wakes.map(\.window) == all.wakes.filter { $0.starts.contains { $0.app == ids[0] } }.map(\.window))
    #expect(Set(one.wakes.flatMap(\.starts).map(\.app)) == [ids[0]])
    #expect(one.rest.isEmpty)
  }

  @Test func `A guard is told with what keeps its unit now and each change of that`() throws {
    var timeline = Timeline()
    try timeline.play(
      Script(
        """
        0s    configure sync guard=sync.service quiet=4h-6h; todo background=1h
        1min  pause 2h
        2min  end
        """))
    let forecast = Forecast(of: try #require(timeline.engine), for: .hours(12), at: timeline.instant)
    let (app, changes) = try #require(forecast.guards.first)
    #expect(forecast.guards.count == 1 && app.name == "sync")
    #expect(changes.map { $0.holds.map(\.name.rawValue) } == [["paused"], [], ["quiet"], []])
    let times = changes.map { timeline.timeText($0.from) }
    #expect(times.prefix(3) == ["2min", "2h1min", "4h"] && times[3].hasPrefix("6h"), "\(times)")
  }
}
