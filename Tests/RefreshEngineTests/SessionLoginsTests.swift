import RefreshEngine
import Testing

/// Apps log in and out with the sessions of their owners, and a person's own word holds until these change.
@Suite struct SessionLoginsTests {
  @Test(arguments: ["down", "stop"])
  func `A logout by a person holds over a restart, until the owner has come back`(end: String) throws {
    try expect(
      """
      0s    limits sessions=logind
      0s    configure todo owner=1000 background=1h
      1s    owner todo there
      5s    logout todo
      10s   \(end)
      10s   down
      20s   up
      21s   owner todo there
      22s   why todo
      2h    owner todo gone
      3h    owner todo there
      3h    why todo
      """,
      gives: """
        1s start 1-1 todo (interval)
        22s why todo: held logged-out
        3h start 2-1 todo (interval)
        3h why todo: refreshing 2-1
        """, only: ["start", "why"])
  }

  @Test func `A login by a person holds over a boot, until the owner has been there`() throws {
    try expect(
      """
      0s    limits sessions=logind
      0s    configure todo owner=1000 background=never
      1s    owner todo gone
      5s    login todo
      10s   down
      20s   boot
      21s   owner todo gone
      22s   why todo
      1min  owner todo there
      2min  owner todo gone
      2min  why todo
      """,
      gives: """
        22s why todo: held never
        2min why todo: held logged-out
        """, only: ["why"])
  }

  @Test func `A new app of a person starts when its owner is there, and one of the system at once`() throws {
    try expect(
      """
      0s    limits sessions=logind
      0s    configure root background=1h
      1min  configure root background=1h ; todo owner=1000 background=1h ; nobody owner=65534 background=1h
      2min  why todo
      3min  owner todo there
      """,
      gives: """
        0s start 1-1 root (interval)
        1min start 1-2 nobody (interval)
        2min why todo: held logged-out
        3min start 1-3 todo (interval)
        """, only: ["start", "why"])
  }

  @Test func `An app that is there already stays as it is until its owner's sessions are known`() throws {
    try expect(
      """
      0s    configure todo owner=1000 background=1h deadline=10min takes=9min
      1min  limits sessions=logind
      1min  configure todo owner=1000 background=1h deadline=10min takes=9min
      2min  owner todo gone
      3min  limits sessions=none
      3min  configure todo owner=1000 background=1h
      3min  why todo
      """,
      gives: """
        0s start 1-1 todo (interval)
        2min terminate 1-1 todo (logout)
        3min why todo: held logged-out
        """, only: ["start", "terminate", "why"])
  }
}
