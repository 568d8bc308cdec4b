import Testing

/// Changes in the watched folders of an app: `watch=SETTLE` and `change APP` in the scripts.
@Suite struct ChangesTests {
  @Test func `A change starts a refresh when it has settled`() throws {
    try expect(
      """
      0s      configure notes foreground=5min background=never watch=30s
      10min   change notes
      10min   why notes
      10min20s  change notes
      10min20s  why notes
      11min   end
      """,
      gives: """
        10min       why notes: not due until 10min30s
        10min20s    why notes: not due until 10min50s
        10min50s    start 1-1 notes (change)
        10min51s    end 1-1 notes new-data
        """)
  }

  @Test func `Ten settle times after the first change nothing more is waited for`() throws {
    let changes = (0..<40).map { "\(600 + 20 * $0)s change notes" }.joined(separator: "\n")
    try expect(
      """
      0s      configure notes foreground=1min background=never watch=30s
      \(changes)
      1h      end
      """,
      gives: """
        15min        start 1-1 notes (change)
        20min20s     start 1-2 notes (change)
        23min30s     start 1-3 notes (change)
        """, only: ["start"])
  }

  @Test func `It does not start before the foreground interval after the last start`() throws {
    try expect(
      """
      0s      configure notes foreground=5min background=never watch=30s
      1s      run notes
      1min    change notes
      1min    why notes
      10min   end
      """,
      gives: """
        1s        start 1-1 notes (manual)
        2s        end 1-1 notes new-data
        1min      why notes: not due until 5min1s
        5min1s    start 1-2 notes (change)
        5min2s    end 1-2 notes new-data
        """)
  }

  @Test func `What the refresh itself writes starts nothing`() throws {
    try expect(
      """
      0s      configure notes foreground=5s background=never watch=1s takes=10s
      1min    change notes
      1min5s  change notes
      1h      end
      """,
      gives: """
        1min1s     start 1-1 notes (change)
        1min11s    end 1-1 notes new-data
        """)
  }

  @Test func `A change after the end of a refresh counts again`() throws {
    try expect(
      """
      0s      configure notes foreground=5s background=never watch=1s takes=10s
      1min    change notes
      1min11500ms change notes
      1h      end
      """,
      gives: """
        1min1s        start 1-1 notes (change)
        1min12s500ms  start 1-2 notes (change)
        """, only: ["start"])
  }

  @Test func `What is due anyway serves it too, and waits for company no longer`() throws {
    try expect(
      """
      0s      configure notes foreground=5min background=1h watch=30s
      59min50s change notes
      59min50s why notes
      2h      end
      """,
      gives: """
        0s           start 1-1 notes (interval)
        59min50s     why notes: not due until 1h
        1h           start 1-2 notes (interval)
        2h           start 1-3 notes (interval)
        """, only: ["start", "why"])
  }

  @Test func `A refresh that a person asks for serves it too`() throws {
    try expect(
      """
      0s      configure notes foreground=5min background=never watch=30s
      10min   change notes
      10min10s run notes
      1h      end
      """,
      gives: "10min10s start 1-1 notes (manual)", only: ["start"])
  }

  @Test func `A constraint, a pause and quiet hours hold it`() throws {
    try expect(
      """
      0s      network gone
      0s      configure notes foreground=5min background=never watch=30s network=any
      10min   change notes
      11min   why notes
      11min   pause
      12min   network wired
      12min   why notes
      13min   unpause
      14min   end
      """,
      gives: """
        11min   why notes: held network
        12min   why notes: held paused
        13min   start 1-1 notes (change)
        13min1s end 1-1 notes new-data
        """)
    try expect(
      """
      0s      configure notes foreground=5min background=never watch=30s quiet=0h-1h
      10min   change notes
      11min   why notes
      2h      end
      """,
      gives: """
        11min   why notes: held quiet
        1h3min49s349ms310us start 1-1 notes (change)
        """, only: ["why", "start"])
  }

  @Test func `A disabled app keeps its change until it is enabled`() throws {
    try expect(
      """
      0s      configure notes foreground=5min background=never watch=30s
      5min    disable notes
      10min   change notes
      20min   why notes
      1h      enable notes
      2h      end
      """,
      gives: """
        20min  why notes: held disabled
        1h     start 1-1 notes (change)
        """, only: ["why", "start"])
  }

  @Test func `It waits for a retry that is there anyway`() throws {
    try expect(
      """
      0s      configure notes foreground=5s background=never watch=30s exit=75
      1s      run notes
      3s      change notes
      1min    end
      """,
      gives: """
        1s                start 1-1 notes (manual)
        34s295ms190us     start 1-2 notes (retry)
        """, only: ["start"])
  }

  @Test func `A sync of the app's own is done with it`() throws {
    try expect(
      """
      0s      configure notes foreground=5s background=never watch=30s
      10min   change notes
      10min10s synced notes
      10min10500ms change notes
      1h      end
      """,
      gives: "", only: ["start"])
  }

  @Test func `A folder that is watched no longer has no change`() throws {
    try expect(
      """
      0s      configure notes foreground=5s background=never watch=30s
      10min   change notes
      10min1s configure notes foreground=5s background=never
      10min2s change notes
      1h      end
      """,
      gives: "", only: ["start"])
  }

  @Test func `It is foretold`() throws {
    try expect(
      """
      0s      configure notes foreground=5min background=never watch=30s
      10min   change notes
      10min   ahead notes
      10min   forecast 1h
      """,
      gives: """
        10min  ahead notes: due 10min30s (change), starts 10min30s
        10min  forecast 10min30s: notes (change)
        """)
  }

  @Test func `The next daemon does not know it`() throws {
    try expect(
      """
      0s      configure notes foreground=5min background=never watch=30s
      10min   change notes
      10min1s down
      10min2s up
      10min3s why notes
      1h      end
      """,
      gives: "10min3s why notes: held never", only: ["start", "why"])
  }
}
