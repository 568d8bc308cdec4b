import Testing

/// A due refresh that is held for longer than `held_for` is reported, once an episode.
@Suite struct HeldReportTests {
  @Test func `A refresh that waits too long is reported once, until it has started`() throws {
    try expect(
      """
      0s       network gone
      0s       configure todo background=1h held-for=2h network=any
      5h       network wired
      5h30min  network gone
      9h       network wired
      """,
      gives: """
        2h        report-held todo since 0s: network
        8h        report-held todo since 6h: network
        """, only: ["report-held"])
  }

  @Test func `Another hold in its place is the same wait`() throws {
    try expect(
      """
      0s       network gone
      0s       configure todo background=1h held-for=2h network=any power=ac max-stale=9h
      1h       power battery
      90min    network wired
      150min   pause
      4h       power mains
      6h       unpause
      """,
      gives: """
        2h report-held todo since 0s: power
        """, only: ["report-held"])
  }

  @Test func `Quiet hours are no wait, and end one`() throws {
    try expect(
      """
      0s       network wired
      0s       configure todo background=1h held-for=1h quiet=2h-8h network=any
      90min    network gone
      3h10min  network wired
      6h30min  network gone
      12h      end
      """,
      gives: """
        3h       report-held todo since 2h: quiet network
        7h30min  report-held todo since 6h30min: quiet network
        """, only: ["report-held"])
  }

  @Test(arguments: [("logout", "login"), ("disable", "enable")])
  func `An app that is off waits for nothing`(off: String, on: String) throws {
    try expect(
      """
      0s     network gone
      0s     configure todo background=1h held-for=2h network=any
      1h     \(off) todo
      5h     \(on) todo
      6h     \(off) todo
      8h     \(on) todo
      11h    end
      """,
      gives: """
        10h report-held todo since 8h: network
        """, only: ["report-held"])
  }

  @Test func `A restart and a boot neither end a wait nor report it twice, and neither does their backlog`() throws {
    try expect(
      """
      0s   configure todo background=1h held-for=2h tasks=none; mail background=1h held-for=6h tasks=none
      1h   down
      3h   up
      4h   down
      5h   boot
      9h   end
      """,
      gives: """
        3h1s          report-held todo since 278ms264us: app
        6h290ms487us report-held mail since 290ms487us: app
        """, only: ["report-held"])
  }

  @Test func `A night asleep counts, and the apps have their chance before the report`() throws {
    try expect(
      """
      0s     network gone
      0s     configure todo background=1h held-for=2h network=any; mail background=1h held-for=2h network=any
      30min  suspend 9h resumed
      9h30min10s network wired
      10h    end
      """, gives: "", only: ["report-held"])
    try expect(
      """
      0s     network gone
      0s     configure todo background=1h held-for=2h network=any
      30min  suspend 9h resumed
      10h    end
      """,
      gives: """
        9h30min20s report-held todo since 0s: network
        """, only: ["report-held"])
  }

  @Test func `A file without the key asks for no report, and one that gets it asks from then on`() throws {
    try expect(
      """
      0s   network gone
      0s   configure todo background=1h network=any
      5h   configure todo background=1h network=any held-for=2h
      9h   end
      """,
      gives: """
        7h report-held todo since 5h: network
        """, only: ["report-held"])
  }
}
