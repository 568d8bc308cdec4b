import Testing

/// A sync that an app made by itself counts as a refresh.
@Suite struct OwnSyncTests {
  @Test func `The next refresh comes an interval after it`() throws {
    try expect(
      """
      0s      configure todo background=1h
      40min   synced todo new-data
      2h      end
      """,
      gives: """
        0s            start 1-1 todo (interval)
        1s            end 1-1 todo new-data
        40min         end 1-2 todo new-data
        1h40min       start 1-3 todo (interval)
        1h40min1s     end 1-3 todo new-data
        """, only: ["start", "end"])
  }

  @Test func `A retry is done with it`() throws {
    try expect(
      """
      0s     configure todo background=1h exit=75
      10s    synced todo
      1h11s  end
      """,
      gives: """
        0s     start 1-1 todo (interval)
        1s     end 1-1 todo failed temporary 75
        10s    end 1-2 todo no-data
        1h10s  start 1-3 todo (interval)
        1h11s  end 1-3 todo failed temporary 75
        """)
  }

  @Test func `It makes the data fresh, and a wait is over with it`() throws {
    try expect(
      """
      0s      network gone
      0s      configure todo background=1h network=any held-for=2h stale-after=150min
      2h10min synced todo
      6h      end
      """,
      gives: """
        2h       report-held todo since 0s: network
        2h10min  end 1-2 todo no-data
        4h40min  report-stale todo since 2h10min
        5h10min  report-held todo since 3h10min: network
        """)
  }

  @Test func `What somebody asked for still comes`() throws {
    try expect(
      """
      0s      network gone
      0s      configure todo background=1h network=any
      10min   run todo
      20min   synced todo
      30min   network wired
      40min   end
      """,
      gives: """
        20min       end 1-1 todo no-data
        30min       start 1-2 todo (manual)
        30min1s     end 1-2 todo new-data
        """)
  }

  @Test func `A refresh that runs goes on, and does not make the data older again`() throws {
    try expect(
      """
      0s      configure todo background=1h stale-after=1h5min takes=20s
      10s     synced todo new-data
      1h6min  end
      """,
      gives: """
        0s        start 1-1 todo (interval)
        10s       end 1-2 todo new-data
        20s       end 1-1 todo new-data
        1h10s     start 1-3 todo (interval)
        1h30s     end 1-3 todo new-data
        """)
  }
}
