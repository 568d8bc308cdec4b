import RefreshEngine
import Testing

/// Refreshes that fail in a row are counted, and an app that fails is reported once, until a refresh does not fail.
@Suite struct FailureStreakTests {
  @Test func `A failing app is reported once, and again after a success`() throws {
    try expect(
      """
      0s    configure todo background=1h notice-after=2 takes=forever
      1s    ends 1-1 0 exit=1
      1h1s  ends 1-2 0 exit=1
      2h1s  ends 1-3 0 exit=1
      3h1s  ends 1-4 0 exit=100
      4h1s  ends 1-5 0 exit=1
      5h1s  ends 1-6 0 exit=1
      """,
      gives: """
        1h1s report-end 1-2 todo 2 in a row: failing
        5h1s report-end 1-6 todo 2 in a row: failing
        """, only: ["report-end"])
  }

  @Test func `Every end is reported where the file asks for it, with the failures before it`() throws {
    try expect(
      """
      0s    configure todo background=1h reports-ends=yes takes=forever
      1s    ends 1-1 0 exit=1
      1h1s  ends 1-2 0 exit=1
      2h1s  ends 1-3 0 exit=0
      3h1s  ends 1-4 0 exit=100
      4h    synced todo new-data
      """,
      gives: """
        1s report-end 1-1 todo 1 in a row
        1h1s report-end 1-2 todo 2 in a row
        2h1s report-end 1-3 todo 2 in a row
        3h1s report-end 1-4 todo 0 in a row
        4h report-end 1-6 todo 0 in a row
        """, only: ["report-end"])
  }

  @Test func `Failures that are worth a retry and failures that are not count alike`() throws {
    try expect(
      """
      0s    configure todo background=1h notice-after=3 takes=forever
      1s    ends 1-1 0 exit=75
      1min  ends 1-2 0 exit=1
      1h1s  ends 1-3 0 exit=75
      """,
      gives: "1h1s report-end 1-3 todo 3 in a row: failing", only: ["report-end"])
  }

  @Test func `A refresh at its deadline has failed`() throws {
    try expect(
      """
      0s    configure todo background=never notice-after=1 deadline=10s takes=forever
      0s    run todo
      1min  end
      """,
      gives: "11s report-end 1-1 todo 1 in a row: failing", only: ["report-end"])
  }

  @Test(arguments: ["disable todo", "logout todo", "network gone"])
  func `A refresh that is stopped is neither a success nor a failure`(stop: String) throws {
    try expect(
      """
      0s    network wired
      0s    configure todo background=1h network=any notice-after=2 reports-ends=yes takes=forever
      1s    ends 1-1 0 exit=1
      1h1s  \(stop)
      2h    end
      """,
      gives: "1s report-end 1-1 todo 1 in a row", only: ["report-end"])
  }

  @Test func `A restart and a reboot keep the count and the report`() throws {
    try expect(
      """
      0s    configure todo background=1h notice-after=2 takes=forever
      1s    ends 1-1 0 exit=1
      2s    down
      3s    up
      1h1s  ends 2-1 0 exit=1
      1h2s  down
      1h3s  boot
      2h1s  ends 3-1 0 exit=1
      3h    end
      """,
      gives: "1h1s report-end 2-1 todo 2 in a row: failing", only: ["report-end"])
  }
}
