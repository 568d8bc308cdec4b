import RefreshEngine
import Testing

/// Tasks that survive a daemon go on under the next one, and have one outcome.
@Suite struct SurvivorsTests {
  @Test func `A refresh goes on under the daemon after a crash, with its deadline from its start`() throws {
    try expect(
      """
      0s  configure todo takes=forever
      10s down leaving-tasks
      20s up
      31s end
      """,
      gives: """
        0s  start 1-1 todo (interval)
        25s warn 1-1 todo
        30s terminate 1-1 todo (deadline)
        31s end 1-1 todo failed stopped by deadline (deadline)
        """)
  }

  @Test func `A refresh that ended while no daemon was there has the outcome that it had`() throws {
    try expect(
      """
      0s   configure todo background=1h takes=forever
      10s  down
      5min up 1-1/0
      5min ends 1-1 0 exit=100 ran=12s
      1h   end
      """,
      gives: """
        0s   start 1-1 todo (interval)
        5min warn 1-1 todo
        5min end 1-1 todo no-data at 12s
        1h   start 2-1 todo (interval)
        """)
  }

  @Test func `One that was stopped at its bound while no daemon was there has overrun its deadline`() throws {
    try expect(
      """
      0s   configure todo background=1h takes=forever
      10s  down
      5min up 1-1/0
      5min ends 1-1 0 late
      6min end
      """,
      gives: """
        0s   start 1-1 todo (interval)
        5min warn 1-1 todo
        5min end 1-1 todo failed stopped by deadline (deadline)
        """)
  }

  @Test func `What comes after a task that is there still starts under the next daemon`() throws {
    try expect(
      """
      0s  configure todo tasks=pull,index>pull takes=forever
      1s  down leaving-tasks
      2s  up
      3s  ends 1-1 0 exit=0
      4s  ends 1-1 1 exit=0
      5s  end
      """,
      gives: """
        0s start 1-1 todo (interval)
        3s start-task 1-1 index
        4s end 1-1 todo new-data [pull new-data, index new-data]
        """)
  }

  @Test func `A task that is gone was lost, also when another one is there still, and runs again`() throws {
    try expect(
      """
      0s  configure todo background=1h tasks=pull,push takes=forever
      1s  down
      2s  up 1-1/1
      3s  ends 1-1 1 exit=100
      4s  end
      """,
      gives: """
        0s start 1-1 todo (interval)
        3s end 1-1 todo failed crashed [pull failed crashed, push no-data]
        3s start 2-1 todo (retry)
        """)
  }

  @Test func `A refresh of which nothing is there was lost, and runs again`() throws {
    try expect(
      """
      0s  configure todo background=1h takes=forever
      1s  down
      2s  up
      3s  end
      """,
      gives: """
        0s start 1-1 todo (interval)
        2s end 1-1 todo failed crashed
        2s start 2-1 todo (retry)
        """)
  }

  @Test func `A daemon that stops leaves what is left to the next one and ends the rest`() throws {
    try expect(
      """
      0s  configure todo takes=forever ; mail takes=forever
      1s  stop 1-1
      3s  down leaving-tasks
      4s  up
      5s  ends 1-1 0 exit=0
      6s  end
      """,
      gives: """
        278ms264us start 1-1 todo (interval)
        290ms487us start 1-2 mail (interval)
        1s terminate 1-2 mail (shutdown)
        2s end 1-2 mail failed stopped by shutdown (shutdown)
        4s start 2-1 mail (retry)
        5s end 1-1 todo new-data
        """)
  }

  @Test func `What outlived the daemon goes on while nobody knows yet whether its constraints are met`() throws {
    try expect(
      """
      0s  network unmetered
      0s  power mains
      0s  configure todo background=1h network=unmetered power=ac takes=forever
      1s  down leaving-tasks
      2s  up
      3s  power mains
      4s  network metered
      10s end
      """,
      gives: """
        0s start 1-1 todo (interval)
        4s warn 1-1 todo
        9s terminate 1-1 todo (constraint-lost)
        10s end 1-1 todo failed stopped by constraint-lost (constraint-lost)
        """)
  }
}
