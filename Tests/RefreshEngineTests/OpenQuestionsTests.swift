import RefreshEngine
import Testing

/// Questions to commands whose app changes before the answer.
@Suite struct OpenQuestionsTests {
  @Test func `A mended command with the same words is asked anew, and so is the one of an app that comes back`() throws
  {
    try expect(
      """
      0s    configure todo background=1h when=vpn when-digest=1
      1s    answers 1-1 todo when no
      2s    configure todo background=1h when=vpn when-digest=2
      3s    answers 1-2 todo when no
      4s    configure mail background=never
      5s    configure todo background=1h when=vpn when-digest=2
      6s    end
      """,
      gives: """
        0s ask 1-1 todo when
        2s ask 1-2 todo when
        5s ask 1-3 todo when
        """)
  }

  @Test func `A question that was not asked is asked when nothing else holds the app`() throws {
    try expect(
      """
      0s    configure todo background=1h when=vpn
      1s    disable todo
      2s    withdraws 9-9 todo when
      2s    withdraws 1-1 todo when
      3s    enable todo
      4s    withdraws 1-1 todo when
      5s    answers 1-2 todo when yes
      7s    end
      """,
      gives: """
        0s ask 1-1 todo when
        3s ask 1-2 todo when
        5s start 1-3 todo (interval)
        6s end 1-3 todo new-data
        """)
  }
}
