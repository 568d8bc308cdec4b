import RefreshEngine
import Simulator
import Testing

/// The next refresh: when an app is due, what holds it then, and when it starts.
@Suite struct ProspectTests {
  @Test func `What is not held starts when it is due`() throws {
    try expect(
      """
      0s    configure todo background=1h
      10min ahead todo
      """,
      gives:
        "10min ahead todo: due 1h-1h3min50s87ms625us (interval), starts 1h-1h3min50s87ms625us",
      only: ["ahead"])
  }

  @Test func `A pause holds what will be due, and a pause with an end only until then`() throws {
    try expect(
      """
      0s    configure todo background=1h
      10min pause
      11min ahead todo
      12min pause 2h
      13min ahead todo
      """,
      gives: """
        11min ahead todo: due 1h-1h3min50s87ms625us (interval), held paused, does not start
        13min ahead todo: due 1h-1h3min50s87ms625us (interval), held paused, starts 2h12min
        """, only: ["ahead"])
  }

  @Test func `A one-shot passes the pause`() throws {
    try expect(
      """
      0s    configure todo background=1h
      10min pause
      11min schedule todo 3h
      12min ahead todo
      2h    ahead todo
      """,
      gives: """
        12min ahead todo: due 1h-1h3min50s87ms625us (manual), held paused, starts 3h11min
        2h ahead todo: due 1h-1h3min50s87ms625us (manual), held paused, starts 3h11min
        """, only: ["ahead"])
  }

  @Test func `Quiet hours are foreseen before they begin`() throws {
    try expect(
      """
      0s    configure todo background=1h quiet=30min-3h
      10min ahead todo
      2h    ahead todo
      """,
      gives: """
        10min ahead todo: due 1h-1h3min50s87ms625us (interval), held quiet, starts 3h1min23s479ms375us
        2h ahead todo: due 1h-1h3min50s87ms625us (interval), held quiet, starts 3h1min23s479ms375us
        """, only: ["ahead"])
  }

  @Test func `A condition holds until max_stale relaxes it, or for good`() throws {
    try expect(
      """
      0s    configure todo background=1h network=unmetered metered-when-stale=yes max-stale=3h; mail background=1h power=ac
      0s    power mains
      0s    network wired
      10min network metered
      10min power battery
      11min ahead todo
      11min ahead mail
      12min network gone
      13min ahead todo
      """,
      gives: """
        11min ahead todo: due 1h278ms264us-1h3min50s365ms889us (interval), held network, starts 6h278ms264us
        11min ahead mail: due 1h290ms487us-1h3min52s578ms308us (interval), held power, does not start
        13min ahead todo: due 1h278ms264us-1h3min50s365ms889us (interval), held network, does not start
        """, only: ["ahead"])
  }

  @Test func `An app that rests after three overruns, and one that is skipped`() throws {
    try expect(
      """
      0s    configure todo background=1h deadline=10s takes=forever max-stale=12h; mail background=1h
      10min skip mail
      11min ahead mail
      5h    ahead todo
      """,
      gives: """
        11min ahead mail: due 2h290ms487us-2h3min52s578ms308us (interval), starts 2h290ms487us-2h3min52s578ms308us
        5h ahead todo: due 14h290ms487us-14h3min50s378ms112us (interval), starts 14h290ms487us-14h3min50s378ms112us
        """, only: ["ahead"])
  }

  @Test func `A push that waits for its limit, and one of an app that the user has ended`() throws {
    try expect(
      """
      0s    power mains
      0s    configure todo background=1h pushes=3/1; mail background=1h
      1min  push 1 todo
      2min  push 2 todo
      3min  ahead todo
      4min  terminated mail
      5min  push 3 mail
      6min  ahead mail
      """,
      gives: """
        3min ahead todo: due 21min (push), starts 21min
        6min ahead mail: due 1h290ms487us-1h3min52s578ms308us (interval), starts 1h290ms487us-1h3min52s578ms308us
        """, only: ["ahead"])
  }

  @Test func `An app that is off, never due or being refreshed`() throws {
    try expect(
      """
      0s    configure off background=1h; never background=never; runs background=1h takes=forever deadline=10min
      1min  disable off
      2min  ahead off
      2min  ahead never
      2min  ahead runs
      """,
      gives: """
        2min ahead off: due 1h185ms683us-1h3min33s608ms796us (interval), held disabled, does not start
        2min ahead never: held never, does not start
        2min ahead runs: refreshing
        """, only: ["ahead"])
  }

  /// Ways to hold an app, alone and in pairs: the keys of its line, and what happens before it is due.
  private static let ways: [(keys: String, lines: [String])] = [
    ("", []), ("", ["pause"]), ("", ["pause 150min"]), ("quiet=30min-3h", []), ("quiet=70min-80min", []),
    ("network=unmetered metered-when-stale=yes max-stale=2h", ["network metered"]),
    ("network=unmetered metered-when-stale=yes max-stale=2h", ["network gone"]), ("network=any", []),
    ("power=ac max-stale=2h", ["power battery"]), ("power=not-low", ["power low"]), ("idle=yes", ["idle no"]),
    ("calm=yes", ["calm no"]), ("", ["skip todo"]), ("", ["schedule todo 2h"]), ("", ["set todo background=never"]),
    ("", ["disable todo"]), ("", ["logout todo"]), ("tasks=none", []), ("", ["sleeps-in 5s"]), ("", ["resumed"]),
    ("", ["terminated todo", "push 1 todo"]), ("pushes=1/1", ["push 1 todo", "push 2 todo A"]),
    ("", ["push 1 todo urgency=very-low"]), ("", ["foreground todo"]),
    ("", ["retry-after 1-2 2h", "ends 1-2 0 exit=75"]),
    ("mounted=/media/backup", ["mounted /media/backup no"]), ("present=usb:1234:5678", ["present usb:1234:5678 yes"]),
    ("when=vpn says=yes", []), ("when=vpn says=no", []), ("reachable=nas:22 says=no", ["run todo"]),
    ("reachable=nas:22 when=vpn says=yes", []),
  ]

  @Test func `What is said is what happens, for every way to hold an app and every two of them`() throws {
    var count = 0
    for first in Self.ways {
      for second in Self.ways {
        let keys = "\(first.keys) \(second.keys)"
        var text = """
          0s configure todo background=1h \(keys)
          1s network wired
          1s power mains
          1s idle yes
          1s calm yes

          """
        text += (first.lines + second.lines).map { "10min \($0)\n" }.joined()
        var timeline = Timeline()
        try timeline.play(Script(text))
        let todo = try appID("todo")
        for moment in ["20min", "1h1min", "90min", "2h30min", "5h"] {
          try timeline.play(Script("\(moment) end"))
          let engine = try #require(timeline.engine)
          guard let prospect = engine.prospect(of: todo, at: timeline.instant) else { continue }
          count += 1
          let lie = Foretold.lie(of: engine, [todo: prospect], at: timeline.instant, for: .hours(48))
          #expect(lie == nil, "at \(moment) of \(text)")
        }
      }
    }
    #expect(count > 2_000)
  }
}
