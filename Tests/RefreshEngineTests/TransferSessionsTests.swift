import RefreshEngine
import Testing

/// The app is woken once for each session whose transfers have all ended.
@Suite struct TransferSessionsTests {
  @Test func `The app is woken when the last transfer of a session has ended, once for each session`() throws {
    try expect(
      """
      0s  configure todo foreground=never background=never network=unmetered
      1s  enqueue 1 todo network=none session=mail
      1s  enqueue 2 todo network=none session=mail
      1s  enqueue 3 todo network=none session=news
      2s  report 1 done
      3s  report 3 failed
      4s  report 2 done
      1h  end
      """,
      gives: """
        1s  transfer 1 todo
        1s  transfer 2 todo
        1s  transfer 3 todo
        3s  start 1-1 todo (transfer news)
        4s  end 1-1 todo new-data
        4s  start 1-2 todo (transfer mail)
        5s  end 1-2 todo new-data
        """)
  }

  @Test func `A caller's word is no session: its refresh waits for the app's conditions`() throws {
    try expect(
      """
      0s  network gone
      0s  configure todo foreground=never background=never network=unmetered
      1s  run todo transfer
      9s  network wired
      1min end
      """,
      gives: """
        9s  start 1-1 todo (transfer)
        10s end 1-1 todo new-data
        """)
  }

  @Test func `What is enqueued before the app was told is told with the rest, what is enqueued later apart`() throws {
    try expect(
      """
      0s  configure todo foreground=never background=never takes=10s
      1s  enqueue 1 todo network=none
      2s  disable todo
      2s  report 1 done
      3s  enqueue 2 todo network=none
      4s  enable todo
      5s  report 2 done
      6s  enqueue 3 todo network=none
      7s  report 3 done
      1min end
      """,
      gives: """
        1s  transfer 1 todo
        2s  stop-transfer 1 todo (user)
        4s  transfer 2 todo
        5s  start 1-1 todo (transfer default)
        6s  transfer 3 todo
        15s end 1-1 todo new-data
        15s start 1-2 todo (transfer default)
        25s end 1-2 todo new-data
        """)
  }

  @Test func `A wake that the daemon's end cut off is owed, one that had an outcome is not, also over a reboot`() throws
  {
    try expect(
      """
      0s  configure todo foreground=never background=never takes=10s
      1s  enqueue 1 todo network=none
      2s  report 1 done
      3s  down
      4s  up
      20s boot
      1min end
      """,
      gives: """
        1s  transfer 1 todo
        2s  start 1-1 todo (transfer default)
        4s  end 1-1 todo failed crashed
        4s  start 2-1 todo (transfer default)
        14s end 2-1 todo new-data
        """)
  }

  @Test func `A wake that failed for a time is tried again, with its session`() throws {
    try expect(
      """
      0s  configure todo foreground=never background=never exit=75
      1s  enqueue 1 todo network=none session=mail
      2s  report 1 done
      40s end
      """,
      gives: """
        1s  transfer 1 todo
        2s  start 1-1 todo (transfer mail)
        3s  end 1-1 todo failed temporary 75
        38s377ms791us start 1-2 todo (transfer mail)
        39s377ms791us end 1-2 todo failed temporary 75
        """)
  }

  @Test func `A person's word comes first, and a wake does not stand for it`() throws {
    try expect(
      """
      0s  configure todo foreground=never background=never takes=5s
      1s  enqueue 1 todo network=none
      1s  enqueue 2 todo network=none session=other
      2s  report 1 done
      3s  report 2 done
      4s  run todo
      1min end
      """,
      gives: """
        1s  transfer 1 todo
        1s  transfer 2 todo
        2s  start 1-1 todo (transfer default)
        7s  end 1-1 todo new-data
        7s  start 1-2 todo (manual)
        12s end 1-2 todo new-data
        12s start 1-3 todo (transfer other)
        17s end 1-3 todo new-data
        """)
  }

  @Test func `What was cancelled before a crash is discarded after it`() throws {
    try expect(
      """
      0s  configure todo foreground=never background=never
      1s  enqueue 1 todo network=none
      2s  cancel-transfer 1
      3s  down
      4s  up
      5s  report 1 lost
      6s  report 1 stopped
      7s  transfer 1
      8s  end
      """,
      gives: """
        1s  transfer 1 todo
        2s  stop-transfer 1 todo (cancelled)
        4s  stop-transfer 1 todo (cancelled)
        5s  stop-transfer 1 todo (cancelled)
        6s  start 2-1 todo (transfer default)
        7s  end 2-1 todo new-data
        7s  transfer 1: ended cancelled
        """)
  }
}

/// Freshness that a server promises.
@Suite struct ServerHintsTests {
  @Test func `Nothing starts by time before the server has something new, but a person is served`() throws {
    try expect(
      """
      0s    configure todo foreground=5min background=15min
      0s    fresh-for 1-1 40min
      10min why todo
      20min run todo
      21min why todo
      1h    end
      """,
      gives: """
        0s  start 1-1 todo (interval)
        1s  end 1-1 todo new-data
        10min why todo: not due until 40min1s
        20min start 1-2 todo (manual)
        20min1s end 1-2 todo new-data
        21min why todo: not due until 35min
        35min start 1-3 todo (interval)
        35min1s end 1-3 todo new-data
        50min start 1-4 todo (interval)
        50min1s end 1-4 todo new-data
        """)
  }
}
