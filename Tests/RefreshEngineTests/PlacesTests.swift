import RefreshEngine
import Testing

/// FEATURES B8: so many refreshes at once in all and of each user, the foreground first, and nobody starves.
@Suite struct PlacesTests {
  /// Runs a script of apps that nothing starts but a request, and holds its starts and answers against these.
  private func expect(
    limits: String, apps: String, _ script: String, gives trace: String,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let quiet = apps.replacing(";", with: "foreground=never background=never ;")
    try RefreshEngineTests.expect(
      """
      0s limits \(limits)
      0s configure \(quiet) foreground=never background=never
      \(script)
      20s end
      """, gives: trace, only: ["start", "why"], sourceLocation: sourceLocation)
  }

  @Test func `A user whose places are taken holds up nobody else`() throws {
    try expect(
      limits: "places=3 places-per-user=1", apps: "a1 owner=1 ; a2 owner=1 ; a3 owner=1 ; b owner=2 ; c owner=3 ",
      """
      0s  run a1
      0s  run a2
      0s  run a3
      0s  run b
      0s  run c
      0s  why a2
      """,
      gives: """
        0s start 1-1 a1 (manual)
        0s start 1-2 b (manual)
        0s start 1-3 c (manual)
        0s why a2: held concurrency
        1s start 1-4 a2 (manual)
        2s start 1-5 a3 (manual)
        """)
  }

  @Test func `All places may be taken while a user still has some`() throws {
    try expect(
      limits: "places=2 places-per-user=2", apps: "a owner=1 ; b owner=2 ; c owner=3 ",
      """
      0s  run a
      0s  run b
      0s  run c
      """,
      gives: """
        0s start 1-1 a (manual)
        0s start 1-2 b (manual)
        1s start 1-3 c (manual)
        """)
  }

  @Test func `Of one user's apps the one in the foreground is next`() throws {
    try expect(
      limits: "places-per-user=1", apps: "a1 owner=1 ; a2 owner=1 ; a3 owner=1 ",
      """
      0s  run a1
      0s  run a2
      0s  run a3
      0s  foreground a3
      """,
      gives: """
        0s start 1-1 a1 (manual)
        1s start 1-2 a3 (manual)
        2s start 1-3 a2 (manual)
        """)
  }

  @Test func `A reload gives the places that it adds at once`() throws {
    let apps = "a1 owner=1 takes=9s ; a2 owner=1 takes=9s ; a3 owner=1 takes=9s "
    try expect(
      limits: "places-per-user=1", apps: apps,
      """
      0s  run a1
      0s  run a2
      0s  run a3
      1s  limits places-per-user=2
      1s  configure \(apps.replacing(";", with: "background=never ;")) background=never
      """,
      gives: """
        0s start 1-1 a1 (manual)
        1s start 1-2 a2 (manual)
        9s start 1-3 a3 (manual)
        """)
  }

  @Test func `An app that is given to another user waits among that one's, and leaves the place that it took`() throws {
    try expect(
      limits: "places-per-user=1", apps: "a1 owner=1 takes=9s ; a2 owner=1 ; b owner=2 takes=5s ",
      """
      0s  run a1
      0s  run b
      0s  run a2
      1s  configure a1 owner=2 takes=9s background=never; a2 owner=2 background=never; b owner=2 background=never
      """,
      gives: """
        0s start 1-1 a1 (manual)
        0s start 1-2 b (manual)
        5s start 1-3 a2 (manual)
        """)
  }

  @Test func `Who waits for a place gets it in the order of the last instants, the foreground first`() throws {
    try RefreshEngineTests.expect(
      """
      0s   limits places=1
      0s   configure a background=never on=always takes=10s; b background=never on=always takes=10s; c background=never on=always takes=10s
      0s   run a
      1s   run b
      2s   foreground c
      1min end
      """,
      gives: """
        0s   start 1-1 a (manual)
        10s  start 1-2 c (foreground)
        20s  start 1-3 b (manual)
        """, only: ["start"])
  }

  @Test func `Windows that overlap are served by one wake, at the first end of any`() throws {
    var timeline = Timeline()
    try timeline.play(
      Script(
        """
        0s    configure a background=60min takes=1s; b background=never takes=1s
        1min  set b background=60min
        3h    end
        """))
    let starts = timeline.trace.filter { $0.contains(" start ") && !$0.contains(" 0s ") }
    let times = Dictionary(grouping: starts) { $0.prefix { $0 != " " } }
    #expect(times.values.contains { $0.count == 2 }, "\(starts)")
  }
}
