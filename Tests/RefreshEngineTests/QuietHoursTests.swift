import Testing

/// Hours of the wall clock in which nothing deferrable starts.
///
/// Each app's end is later by its spread: 1 min 23.479375 s for `todo` on this machine.
@Suite struct QuietHoursTests {
  @Test func `Nothing starts by time in quiet hours, and what is due starts at their end`() throws {
    try expect(
      """
      0s  configure todo background=1h quiet=2h-5h
      3h  why todo
      5h30min end
      """,
      gives: """
        0s start 1-1 todo (interval)
        1h start 1-2 todo (interval)
        3h why todo: held quiet
        5h1min23s479ms375us start 1-3 todo (interval)
        """, only: ["start", "why"])
  }

  @Test func `A window that runs into quiet hours ends before them`() throws {
    try expect(
      """
      0s    configure todo background=115min quiet=2h-5h
      1min  forecast 2h
      """,
      gives: """
        1min forecast 1h55min-1h59min59s: todo (interval)
        """, only: ["forecast"])
  }

  @Test func `An hour that daylight saving repeats is quiet twice`() throws {
    try expect(
      """
      0s  zone 1h 2h=0s
      0s  configure todo background=20min quiet=1h-2h30min
      2h50min end
      """,
      gives: """
        1h31min23s479ms375us start 1-1 todo (interval)
        1h51min23s479ms375us start 1-2 todo (interval)
        2h31min23s479ms375us start 1-3 todo (interval)
        """, only: ["start"])
  }

  @Test func `Quiet hours whose end daylight saving skips end with the gap`() throws {
    try expect(
      """
      0s  zone 1h 1h=2h
      0s  configure todo background=20min quiet=1h30min-2h30min
      1h10min end
      """,
      gives: """
        0s start 1-1 todo (interval)
        20min start 1-2 todo (interval)
        1h1min23s479ms375us start 1-3 todo (interval)
        """, only: ["start"])
  }

  @Test func `A person who asks does not wait for them, not even with a retry pending`() throws {
    try expect(
      """
      0s     configure todo background=1h quiet=1min-5h exit=75
      50s    end
      2min   why todo
      3min   run todo
      4min   end
      """,
      gives: """
        0s start 1-1 todo (interval)
        36s377ms791us start 1-2 todo (retry)
        2min why todo: held quiet
        3min start 1-3 todo (manual)
        """, only: ["start", "why"])
  }

  @Test func `A retry that the user waits for is not held, and is again when the user has gone`() throws {
    try expect(
      """
      0s    network wired
      0s    configure todo background=never on=always quiet=1min-5h exit=75; mail network=any background=never on=always quiet=1min-5h exit=75
      10min run todo
      10min run mail
      20min foreground todo
      20min network gone
      21min foreground mail
      22min background mail
      23min network wired
      24min why mail
      """,
      gives: """
        10min start 1-1 todo (manual)
        10min start 1-2 mail (manual)
        20min start 1-3 todo (foreground)
        24min why mail: held quiet
        """, only: ["start", "why"])
  }
}
