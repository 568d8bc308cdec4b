import RefreshEngine
import Testing

/// A due app waits for its constraints, and starts when a condition changes.
@Suite struct ConditionsTests {
  @Test func `A due refresh waits for its network, and starts at the moment it is there`() throws {
    try expect(
      """
      0s     network metered
      0s     configure todo background=1h network=unmetered
      30min  why todo
      45min  network wired
      50min  end
      """,
      gives: """
        30min  why todo: held network
        45min  start 1-1 todo (interval)
        45min1s end 1-1 todo new-data
        """)
  }

  @Test func `Until a source has answered nothing starts that asks for its condition`() throws {
    try expect(
      """
      0s   configure todo power=ac; mail background=24h
      1s   power mains
      1min end
      """,
      gives: """
        290ms487us  start 1-1 mail (interval)
        1s  start 1-2 todo (interval)
        """, only: ["start"])
  }

  @Test func `A refresh that loses its network is stopped, is no failure, and runs again when it is back`() throws {
    try expect(
      """
      0s     network wired
      0s     configure todo background=1h network=any takes=15s
      5s     network gone
      10min  network wired
      20min  end
      """,
      gives: """
        0s      start 1-1 todo (interval)
        11s     end 1-1 todo failed stopped by constraint-lost (constraint-lost)
        10min   start 1-2 todo (retry)
        10min15s end 1-2 todo new-data
        """, only: ["start", "end"])
  }

  @Test func `Without max_stale no constraint is relaxed, however old the data is`() throws {
    try expect(
      """
      0s     network metered
      0s     power battery
      0s     idle no
      0s     calm no
      0s     configure a idle=yes; b calm=yes; c power=ac; d network=unmetered metered-when-stale=yes
      600h   end
      """,
      gives: "", only: ["start"])
  }

  @Test func `With max_stale constraints are relaxed one after the other, the network's price last`() throws {
    try expect(
      """
      0s     network metered
      0s     power battery
      0s     idle no
      0s     calm no
      0s     configure a max-stale=3h idle=yes; b max-stale=3h calm=yes; c max-stale=3h power=ac; d max-stale=3h network=unmetered metered-when-stale=yes; e max-stale=3h network=unmetered
      12h    end
      """,
      gives: """
        3h  start 1-1 a (interval)
        4h  start 1-2 b (interval)
        5h  start 1-3 c (interval)
        6h  start 1-4 d (interval)
        """, only: ["start"])
  }

  @Test func `A bridge that needs no network connects before any source has answered`() {
    var engine = Engine(start: 1, spread: Spread(machine: 1), states: [:], wallOffset: .zero)
    for (network, mayBridge) in [(NetworkConstraint.none, true), (.any, false)] {
      var limits = Limits()
      limits.pushNetwork = network
      _ = engine.handle(.configured(limits, [:]), at: Instant(microseconds: 0))
      #expect(engine.mayBridge == mayBridge, "[push] network = \"\(network.rawValue)\"")
    }
  }
}
