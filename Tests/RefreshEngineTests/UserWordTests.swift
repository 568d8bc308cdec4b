import Testing

/// FEATURES D7 and A13: the user's word stands above the schedule.
@Suite struct UserWordTests {
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
