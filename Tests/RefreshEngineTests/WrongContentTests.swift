import RefreshEngine
import Testing

/// Transfers whose content is wrong: they wait, because it may be right later, but not without end.
@Suite struct WrongContentTests {
  @Test func `Wrong content is tried again later and later, and fails for good the sixth time`() throws {
    try expect(
      """
      0s   configure todo foreground=never background=never
      1s   enqueue 1 todo network=none
      2s   report 1 wrong
      3s   resume-transfer 1
      4s   report 1 wrong
      3min report 1 retry
      4min report 1 wrong
      9min report 1 wrong
      18min report 1 wrong
      40min report 1 wrong
      41min transfer 1
      42min end
      """,
      gives: """
        1s transfer 1 todo
        3s transfer 1 todo
        2min4s transfer 1 todo
        3min4s717ms38us transfer 1 todo
        8min transfer 1 todo
        17min transfer 1 todo
        34min transfer 1 todo
        40min start 1-1 todo (transfer default)
        40min1s end 1-1 todo new-data
        41min transfer 1: ended failed
        """)
  }

  @Test func `Wrong content of a paused transfer leaves it paused`() throws {
    try expect(
      """
      0s   configure todo foreground=never background=never
      1s   enqueue 1 todo network=none
      2s   pause-transfer 1
      3s   report 1 wrong
      4s   transfer 1
      1h   end
      """,
      gives: """
        1s transfer 1 todo
        2s stop-transfer 1 todo (paused)
        4s transfer 1: paused
        """)
  }
}
