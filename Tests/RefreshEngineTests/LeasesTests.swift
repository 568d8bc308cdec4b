import Testing

/// A lease is a signal that is undone when the connection that holds it ends.
@Suite struct LeasesTests {
  @Test func `The app is in the foreground as long as one lease says so`() throws {
    try expect(
      """
      0s      configure todo foreground=5min background=24h
      1s      lease 1 foreground todo
      2s      lease 2 foreground todo
      6min    lease-ends 1 todo
      6min    why todo
      7min    lease-ends 2 todo
      7min    why todo
      """,
      gives: """
        6min  why todo: not due until 10min
        7min  why todo: not due until 1d5min
        """, only: ["why"])
  }

  @Test func `A lease that ends undoes its own signal only`() throws {
    try expect(
      """
      0s  configure todo foreground=5min background=24h
      1s  foreground todo
      2s  lease 1 foreground todo
      3s  lease 2 launched todo
      4s  lease-ends 1 todo
      5s  lease-ends 2 todo
      6s  why todo
      7s  background todo
      8s  why todo
      """,
      gives: """
        6s  why todo: not due until 5min
        8s  why todo: not due until 1d
        """, only: ["why"])
  }

  @Test func `A lease on launched keeps the background`() throws {
    try expect(
      "0s configure todo\n1s lease 1 launched todo\n2s why todo", gives: "2s why todo: not due until 1d",
      only: ["why"])
  }

  @Test func `A lease that ends twice, or that nobody knows, changes nothing`() throws {
    try expect(
      """
      0s  configure todo
      1s  lease-ends 7 todo
      2s  lease 1 foreground todo
      2s  lease 1 foreground todo
      3s  lease-ends 1 todo
      4s  lease-ends 1 todo
      5s  lease-ends 1 mail
      6s  why todo
      """, gives: "6s why todo: not due until 1d", only: ["why"])
  }

  @Test func `Leases are gone with the daemon, signals stay`() throws {
    try expect(
      """
      0s   configure mail
      0s   configure mail; todo
      2s   lease 1 foreground todo
      2s   foreground mail
      3s   down
      4s   up
      4s   why todo
      4s   why mail
      """,
      gives: """
        4s  why todo: not due until 1d
        4s  why mail: not due until 5min
        """, only: ["why"])
  }

  @Test func `A logout holds against a lease, and login gives the foreground back`() throws {
    try expect(
      """
      0s     configure todo foreground=5min
      1s     lease 1 foreground todo
      2s     logout todo
      10min  why todo
      10min  login todo
      """,
      gives: """
        0s     start 1-1 todo (interval)
        10min  why todo: held logged-out
        10min  start 1-2 todo (foreground)
        """, only: ["why", "start"])
  }
}
