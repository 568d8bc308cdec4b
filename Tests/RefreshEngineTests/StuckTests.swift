import Testing

@testable import RefreshEngine

/// Processes that no signal ends, because they wait in the kernel for a disk or a server.
@Suite struct StuckTests {
  @Test func `A process that outlives SIGKILL gives its slot to another app, and its own app stays busy`() throws {
    try expect(
      """
      0s    limits places=1
      0s    configure a background=never deadline=10s takes=forever immortal=yes; b background=never takes=5s
      0s    run a
      1s    run b
      40s   run a
      41s   why a
      1h    ends 1-1 0 signal=9
      2h    end
      """,
      gives: """
        0s    start 1-1 a (manual)
        10s   terminate 1-1 a (deadline)
        15s   kill 1-1 a
        25s   stuck 1-1 a
        25s   start 1-2 b (manual)
        41s   why a: refreshing 1-1
        1h    start 1-3 a (manual)
        1h10s terminate 1-3 a (deadline)
        1h15s kill 1-3 a
        1h25s stuck 1-3 a
        """, only: ["start", "terminate", "kill", "stuck", "why"])
  }

  @Test func `A user's slots are free again too, and each is freed once`() throws {
    var timeline = Timeline()
    let app = "background=never deadline=10s takes=forever immortal=yes owner=7"
    try timeline.play(
      Script(
        """
        0s   limits places=2 places-per-user=1
        0s   configure a \(app); b \(app); c background=never takes=forever owner=7; d background=never owner=7
        0s   run a
        1s   run b
        2s   run c
        3s   run d
        51s  ends 1-1 0 signal=9
        52s  ends 1-2 0 signal=9
        55s  end
        """))
    let starts = timeline.trace.filter { $0.contains(" start ") }
    #expect(starts.map { $0.split(separator: " ")[3] } == ["a", "b", "c"], "\(timeline.trace)")
    #expect(timeline.engine?.refreshingCount == 1 && timeline.engine?.stuckRefreshes.isEmpty == true)
  }
}
