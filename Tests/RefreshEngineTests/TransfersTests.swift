import RefreshEngine
import Testing

/// Transfers: when they run, and how they end.
@Suite struct TransfersTests {
  @Test func `A transfer runs while the network is not metered, and goes on when it is that again`() throws {
    try expect(
      """
      0s  configure todo foreground=never background=never
      1s  enqueue 1 todo
      2s  transfer 1
      3s  network metered
      4s  network wired
      5s  network metered
      6s  report 1 stopped
      7s  transfer 1
      8s  network wifi
      9s  report 1 done
      9s  transfer 1
      10s end
      """,
      gives: """
        2s  transfer 1: held network
        4s  transfer 1 todo
        5s  stop-transfer 1 todo (network)
        7s  transfer 1: held network
        8s  transfer 1 todo
        9s  start 1-1 todo (transfer default)
        9s  transfer 1: ended done
        10s end 1-1 todo new-data
        """)
  }

  @Test func `So many run at once, so many with one server, the most urgent first`() throws {
    try expect(
      """
      0s  limits transfers=3 per-host=2
      0s  configure todo foreground=never background=never
      1s  pause
      2s  enqueue 1 todo network=none host=a
      2s  enqueue 2 todo network=none host=a
      2s  enqueue 3 todo network=none host=a
      2s  enqueue 4 todo network=none host=b
      2s  enqueue 5 todo network=none host=c priority=5
      3s  transfer 4
      4s  unpause
      5s  transfer 3
      6s  prioritize 4 1
      7s  report 5 done
      8s  report 2 done
      9s  end
      """,
      gives: """
        3s  transfer 4: held paused
        4s  transfer 5 todo
        4s  transfer 1 todo
        4s  transfer 2 todo
        5s  transfer 3: held concurrency
        7s  transfer 4 todo
        8s  transfer 3 todo
        """)
  }

  @Test func `What only has to be put into place leaves its place to another`() throws {
    try expect(
      """
      0s  limits transfers=1
      0s  configure todo foreground=never background=never
      1s  enqueue 1 todo network=none
      1s  enqueue 2 todo network=none
      1s  enqueue 3 todo network=none
      2s  fetched 1
      3s  report 1 done
      4s  end
      """,
      gives: """
        1s  transfer 1 todo
        2s  transfer 2 todo
        """)
  }

  @Test func `Of two apps the one that has fewer running is next, however many the other one has`() throws {
    try expect(
      """
      0s  limits transfers=2
      0s  configure todo foreground=never background=never ; mail foreground=never background=never
      1s  pause
      2s  enqueue 1 todo network=none
      2s  enqueue 2 todo network=none
      2s  enqueue 3 todo network=none
      2s  enqueue 4 mail network=none
      3s  unpause
      4s  report 1 done
      5s  end
      """,
      gives: """
        3s  transfer 1 todo
        3s  transfer 4 mail
        4s  transfer 2 todo
        """)
  }

  @Test func `What has ended is forgotten a day after, what is of no app any more after a month`() throws {
    try expect(
      """
      0s  configure todo foreground=never background=never ; mail foreground=never background=never
      1s  enqueue 1 todo network=none
      1s  enqueue 2 mail network=none
      2s  report 1 done
      3s  configure todo foreground=never background=never
      4s  report 2 failed
      23h transfer 1
      25h transfer 1
      25h transfer 2
      721h pause
      721h transfer 2
      722h end
      """,
      gives: """
        1s  transfer 1 todo
        1s  transfer 2 mail
        2s  start 1-1 todo (transfer default)
        3s  end 1-1 todo new-data
        3s  stop-transfer 2 mail (user)
        23h transfer 1: ended done
        1d1h transfer 1: forgotten
        1d1h transfer 2: ended failed
        30d1h transfer 2: forgotten
        """)
  }

  @Test func `What did not get on is tried again later and later, what did at once, and what the server says counts`()
    throws
  {
    try expect(
      """
      0s   configure todo foreground=never background=never
      1s   enqueue 1 todo network=none
      2s   report 1 retry
      2s   transfer 1
      10s  report 1 lost
      20s  report 1 retry progressed
      21s  report 1 retry 5min
      22s  transfer 1
      23s  resume-transfer 1
      24s  end
      """,
      gives: """
        1s  transfer 1 todo
        2s  transfer 1: not due until 3s179ms259us
        3s179ms259us transfer 1 todo
        12s358ms519us transfer 1 todo
        20s transfer 1 todo
        22s transfer 1: not due until 5min21s
        23s transfer 1 todo
        """)
  }

  @Test func `A full disk stops it until there is room`() throws {
    try expect(
      """
      0s  configure todo foreground=never background=never
      1s  enqueue 1 todo network=none
      2s  report 1 no-space 500
      3s  transfer 1
      1h  room 1
      61min report 1 no-space 500
      62min room 1
      63min report 1 no-space 500
      64min room 1
      2h  end
      """,
      gives: """
        1s  transfer 1 todo
        3s  transfer 1: waits for 500 bytes
        1h  transfer 1 todo
        1h2min1s179ms259us transfer 1 todo
        1h4min2s358ms519us transfer 1 todo
        """)
  }

  @Test func `The user pauses, resumes and cancels; what was never begun needs nobody to clean up`() throws {
    try expect(
      """
      0s  limits transfers=1
      0s  configure todo foreground=never background=never
      1s  enqueue 1 todo network=none
      1s  enqueue 2 todo network=none
      2s  pause-transfer 1
      3s  transfer 1
      4s  report 1 stopped
      5s  transfer 1
      6s  resume-transfer 1
      7s  cancel-transfer 1
      8s  transfer 1
      9s  report 2 done
      10s report 1 stopped
      11s transfer 1
      12s enqueue 3 todo network=any session=other
      13s cancel-transfer 3
      13s report 3 stopped
      14s transfer 3
      15s end
      """,
      gives: """
        1s  transfer 1 todo
        2s  stop-transfer 1 todo (paused)
        3s  transfer 1: stopping (paused)
        4s  transfer 2 todo
        5s  transfer 1: paused
        7s  stop-transfer 1 todo (cancelled)
        8s  transfer 1: stopping (cancelled)
        10s start 1-1 todo (transfer default)
        11s end 1-1 todo new-data
        11s transfer 1: ended cancelled
        13s stop-transfer 3 todo (cancelled)
        13s start 1-2 todo (transfer other)
        14s end 1-2 todo new-data
        14s transfer 3: ended cancelled
        """)
  }

  @Test func `Logging out, disabling, sleep and the daemon's end stop it, and it goes on afterwards`() throws {
    try expect(
      """
      0s  configure todo foreground=never background=never
      1s  enqueue 1 todo network=none
      2s  logout todo
      3s  report 1 stopped
      4s  transfer 1
      5s  login todo
      6s  disable todo
      7s  report 1 stopped
      8s  enable todo
      9s  sleeps-in 4s
      10s report 1 stopped
      11s transfer 1
      12s resumed
      1min stop
      62s report 1 stopped
      63s down
      64s up
      65s end
      """,
      gives: """
        1s  transfer 1 todo
        2s  stop-transfer 1 todo (logged-out)
        4s  transfer 1: held logged-out
        5s  transfer 1 todo
        6s  stop-transfer 1 todo (user)
        8s  transfer 1 todo
        9s  stop-transfer 1 todo (sleep)
        11s transfer 1: held suspending
        32s transfer 1 todo
        1min stop-transfer 1 todo (shutdown)
        1min4s transfer 1 todo
        """)
  }

  @Test func `After seven days it is given up, but not while the user has it paused`() throws {
    try expect(
      """
      0s    configure todo foreground=never background=never
      1s    enqueue 1 todo network=none
      2s    enqueue 2 todo
      3s    enqueue 3 todo network=none
      4s    pause-transfer 3
      5s    report 3 stopped
      169h  report 1 stopped
      170h  transfer 2
      171h  transfer 3
      172h  end
      """,
      gives: """
        1s  transfer 1 todo
        3s  transfer 3 todo
        4s  stop-transfer 3 todo (paused)
        7d1s stop-transfer 1 todo (expired)
        7d2h transfer 2: ended expired
        7d3h transfer 3: paused
        """)
  }
}
