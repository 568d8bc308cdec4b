import RefreshEngine
import Testing

/// The engine reports data older than `stale_after`, once for each time that the data becomes so old.
@Suite struct StalenessTests {
  @Test func `Data that grows too old is told of once, until it has been fresh again`() throws {
    try expect(
      """
      0s    configure todo background=1h stale-after=2h takes=forever
      1s    ends 1-1 0 exit=0
      1h1s  ends 1-2 0 exit=1
      2h1s  ends 1-3 0 exit=1
      3h1s  ends 1-5 0 exit=0
      4h1s  ends 1-6 0 exit=1
      5h1s  ends 1-7 0 exit=1
      """,
      gives: """
        2h1s report-stale todo since 0s
        5h1s report-stale todo since 3h
        """, only: ["report-stale"])
  }

  @Test func `Data that there never was is as old as the app is known`() throws {
    try expect(
      """
      0s     configure todo background=never stale-after=6h
      6h     why todo
      12h    end
      """,
      gives: """
        6h report-stale todo since 0s
        6h why todo: held never
        """)
  }

  @Test func `A refresh on its way is waited for, and what it brings spares the telling`() throws {
    try expect(
      """
      0s      configure todo background=never stale-after=1h takes=20s
      59min50s run todo
      1h      end
      2h10min end
      """,
      gives: """
        59min50s start 1-1 todo (manual)
        1h10s    end 1-1 todo new-data
        1h59min50s report-stale todo since 59min50s
        """)
  }

  @Test(arguments: [("logout", "login"), ("disable", "enable")])
  func `What nobody expects to be fresh is not told of`(off: String, on: String) throws {
    try expect(
      """
      0s   configure todo background=never stale-after=1h
      30min \(off) todo
      3h   \(on) todo
      3h   \(off) todo
      5h   \(on) todo
      9h   end
      """,
      gives: """
        3h report-stale todo since 0s
        """, only: ["report-stale"])
  }

  @Test func `What a restart or a boot finds told is not told again`() throws {
    try expect(
      """
      0s  configure todo background=never stale-after=1h
      2h  down
      3h  up
      4h  boot
      5h  run todo
      7h  end
      """,
      gives: """
        1h report-stale todo since 0s
        6h report-stale todo since 5h
        """, only: ["report-stale"])
  }

  @Test func `After a night's sleep the apps have their chance before anything is told`() throws {
    try expect(
      """
      0s    configure todo background=1h stale-after=2h; mail background=1h stale-after=2h exit=1
      30min suspend 9h resumed
      9h31min end
      """,
      gives: """
        9h30min21s report-stale mail since 0s
        """, only: ["report-stale"])
  }

  @Test func `A longer objective makes the data good again, and none is never told of`() throws {
    try expect(
      """
      0s    configure todo background=never stale-after=1h
      2h    configure todo background=never stale-after=3h
      4h    configure todo background=never
      9h    end
      """,
      gives: """
        1h report-stale todo since 0s
        3h report-stale todo since 0s
        """, only: ["report-stale"])
  }
}
