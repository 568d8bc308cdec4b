import RefreshEngine
import Testing

/// FEATURES B8: so many refreshes at once of each user, who holds up nobody else.
@Suite struct PlacesOfUsersTests {
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
}
