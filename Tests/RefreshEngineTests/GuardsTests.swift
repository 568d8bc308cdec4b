import RefreshEngine
import Testing

/// Guards: units that run only while nothing holds their app.
@Suite struct GuardsTests {
  @Test func `A unit is kept while a condition is lost, and returned when it has come back for 5 s`() throws {
    try expect(
      """
      0s    network wired
      0s    configure sync guard=sync.service network=unmetered
      1s    why sync
      2s    network metered
      2s    keeps 1-1 sync
      2s    why sync
      60s   network wired
      61s   why sync
      65s   returns 1-1 sync
      66s   why sync
      66s   next
      """,
      gives: """
        1s why sync: clear
        2s keep 1-1 sync sync.service
        2s why sync: held network
        1min1s why sync: held unsteady
        1min5s give-back 1-1 sync sync.service
        1min6s why sync: clear
        1min6s next none
        """)
  }

  @Test func `A condition that flaps is damped more with each loss, and a calm span ends that`() throws {
    try expect(
      """
      0s     network wired
      0s     configure sync guard=sync.service network=unmetered
      10s    network metered
      11s    network wired
      16s    returns 1-1 sync
      20s    network metered
      21s    network wired
      22s    network metered
      23s    network wired
      33s    returns 1-2 sync
      40s    network metered
      41s    network wired
      61s    returns 1-3 sync
      20min  network metered
      20min  network wired
      20min5s returns 1-4 sync
      """,
      gives: """
        10s keep 1-1 sync sync.service
        16s give-back 1-1 sync sync.service
        20s keep 1-2 sync sync.service
        33s give-back 1-2 sync sync.service
        40s keep 1-3 sync sync.service
        1min1s give-back 1-3 sync sync.service
        20min keep 1-4 sync sync.service
        20min5s give-back 1-4 sync sync.service
        """)
  }

  @Test func `What a person does is done at once`() throws {
    try expect(
      """
      0s   configure sync guard=sync.service
      1s   pause
      2s   why sync
      3s   unpause
      3s   returns 1-1 sync
      4s   disable sync
      5s   why sync
      6s   enable sync
      6s   returns 1-2 sync
      7s   pause 10s
      17s  returns 1-3 sync
      18s  why sync
      """,
      gives: """
        1s keep 1-1 sync sync.service
        2s why sync: held paused
        3s give-back 1-1 sync sync.service
        4s keep 1-2 sync sync.service
        5s why sync: held disabled
        6s give-back 1-2 sync sync.service
        7s keep 1-3 sync sync.service
        17s give-back 1-3 sync sync.service
        18s why sync: clear
        """)
  }

  @Test func `Quiet hours keep the unit without an event`() throws {
    try expect(
      """
      0s         configure sync guard=sync.service quiet=22h-6h
      21h        why sync
      22h1s      why sync
      31h        why sync
      """,
      gives: """
        21h why sync: clear
        22h1s why sync: held quiet
        1d7h why sync: clear
        """, only: ["why"])
  }

  @Test func `Nothing is done before the conditions are known`() throws {
    try expect(
      """
      0s   configure sync guard=sync.service network=unmetered
      1s   why sync
      2s   network wired
      3s   why sync
      """,
      gives: """
        1s why sync: held network
        3s why sync: clear
        """)
  }

  @Test func `No constraint of a guard is relaxed with time, and no request refreshes it`() throws {
    try expect(
      """
      0s     network metered
      0s     configure sync guard=sync.service network=unmetered power=ac idle=yes max-stale=1h
      0s     power battery
      0s     idle no
      1s     run sync
      2s     run-anyway sync
      3s     foreground sync
      200h   why sync
      200h   forecast 24h
      """,
      gives: """
        0s keep 1-1 sync sync.service
        8d8h why sync: held network, power, idle
        """)
  }

  @Test func `The next daemon knows what the one before has stopped`() throws {
    try expect(
      """
      0s    network wired
      0s    configure sync guard=sync.service network=unmetered
      10s   network metered
      10s   keeps 1-1 sync
      20s   down
      30s   up
      30s   network wired
      30s   returns 2-1 sync
      40s   network metered
      40s   keeps 2-2 sync
      50s   down
      60s   up
      60s   network metered
      """,
      gives: """
        10s keep 1-1 sync sync.service
        30s give-back 2-1 sync sync.service
        40s keep 2-2 sync sync.service
        1min keep 3-1 sync sync.service (kept before)
        """)
  }

  @Test func `A unit that its file names no more is returned, and a lost one is named`() throws {
    try expect(
      """
      0s    configure sync guard=old.service
      1s    disable sync
      1s    keeps 1-1 sync
      2s    configure sync guard=new.service
      3s    returns 1-1 sync
      3s    keeps 1-2 sync
      4s    configure mail background=never
      5s    returns 1-2 sync
      6s    configure sync guard=new.service
      6s    keeps 1-3 sync
      7s    down
      7s    configure mail background=never
      8s    up
      """,
      gives: """
        1s keep 1-1 sync old.service
        2s give-back 1-1 sync old.service
        3s keep 1-2 sync new.service
        4s give-back 1-2 sync new.service
        6s keep 1-3 sync new.service
        8s left sync new.service
        """)
  }

  @Test func `A keeper that fails is started again at growing distances`() throws {
    try expect(
      """
      0s    configure sync guard=sync.service
      0s    disable sync
      1s    keeper-fails 1-1 sync
      6s    keeper-fails 1-2 sync
      16s   keeps 1-3 sync
      17s   enable sync
      17s   keeper-fails 1-3 sync
      22s   returns 1-4 sync
      """,
      gives: """
        0s keep 1-1 sync sync.service
        6s keep 1-2 sync sync.service
        16s keep 1-3 sync sync.service
        17s give-back 1-3 sync sync.service
        22s give-back 1-4 sync sync.service
        """)
  }

  @Test func `A keeper that has failed and is needed no more wakes nobody`() throws {
    try expect(
      """
      0s    configure sync guard=sync.service
      0s    disable sync
      1s    keeper-fails 1-1 sync
      2s    enable sync
      10s   next
      20s   disable sync
      """,
      gives: """
        0s keep 1-1 sync sync.service
        10s next none
        20s keep 1-2 sync sync.service
        """)
  }

  @Test func `The command of a guard is asked again while its unit runs, and a no keeps the unit`() throws {
    try expect(
      """
      0s      configure sync guard=sync.service when=vpn
      1s      answers 1-1 sync when yes
      2s      why sync
      5min1s  answers 1-2 sync when no
      5min2s  why sync
      """,
      gives: """
        0s ask 1-1 sync when
        2s why sync: clear
        5min1s ask 1-2 sync when
        5min1s keep 1-3 sync sync.service
        5min2s why sync: held when
        """)
  }

  @Test func `Sleep and the stop of the daemon leave the unit as it is`() throws {
    try expect(
      """
      0s    network wired
      0s    configure sync guard=sync.service network=unmetered
      10s   sleeps-in 5s
      12s   resumed
      13s   why sync
      20s   stop
      """,
      gives: "13s why sync: clear")
  }
}
