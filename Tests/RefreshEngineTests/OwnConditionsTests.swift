import RefreshEngine
import Testing

/// Conditions of an app's own: facts that its file names, and commands that answer.
@Suite struct OwnConditionsTests {
  @Test(arguments: ["mounted /media/backup", "present usb:1234:5678"])
  func `A refresh waits for a fact that its file names, and starts at the edge`(fact: String) throws {
    let words = fact.split(separator: " ").map(String.init)
    try expect(
      """
      0s    configure todo background=1h \(words[0])=\(words[1])
      1min  why todo
      2min  \(fact) no
      2min  why todo
      3h    \(words[0]) /media/other yes
      3h    why todo
      5h    \(fact) yes
      5h30min end
      """,
      gives: """
        1min why todo: held \(words[0])
        2min why todo: held \(words[0])
        3h why todo: held \(words[0])
        5h start 1-1 todo (interval)
        5h1s end 1-1 todo new-data
        """)
  }

  @Test func `A refresh that loses a fact is warned and stopped, and runs again when it is back`() throws {
    try expect(
      """
      0s    mounted /media/backup yes
      0s    configure todo background=1h mounted=/media/backup takes=20s
      10s   mounted /media/backup no
      20s   why todo
      1min  mounted /media/backup yes
      2min  end
      """,
      gives: """
        0s start 1-1 todo (interval)
        10s warn 1-1 todo
        15s terminate 1-1 todo (constraint-lost)
        16s end 1-1 todo failed stopped by constraint-lost (constraint-lost)
        20s why todo: held mounted
        1min start 1-2 todo (retry)
        1min20s end 1-2 todo new-data
        """)
  }

  @Test func `No age of the data relaxes a condition of an app's own`() throws {
    try expect(
      """
      0s    mounted /media/backup no
      0s    configure todo background=1h max-stale=2h mounted=/media/backup; mail background=1h max-stale=2h when=vpn says=no
      200h  why todo
      200h  why mail
      """,
      gives: """
        8d8h why todo: held mounted
        8d8h why mail: held when
        """, only: ["why"])
  }

  @Test func `A command is asked when the app is due, and a yes starts it`() throws {
    try expect(
      """
      0s      configure todo background=1h when=vpn
      2s      answers 1-1 todo when yes
      1h      next
      1h5min  answers 1-3 todo when yes
      1h6min  end
      """,
      gives: """
        0s ask 1-1 todo when
        2s start 1-2 todo (interval)
        3s end 1-2 todo new-data
        1h next 1h2s
        1h2s ask 1-3 todo when
        1h5min start 1-4 todo (interval)
        1h5min1s end 1-4 todo new-data
        """)
  }

  @Test func `A command that says no is asked again at growing distances`() throws {
    try expect(
      "0s configure todo background=1h when=vpn says=no\n1h end",
      gives: """
        0s ask 1-1 todo when
        30s ask 1-2 todo when
        1min30s ask 1-3 todo when
        3min30s ask 1-4 todo when
        7min30s ask 1-5 todo when
        15min30s ask 1-6 todo when
        30min30s ask 1-7 todo when
        45min30s ask 1-8 todo when
        """)
  }

  @Test func `While a command is asked again, nothing wakes for it`() throws {
    try expect(
      """
      0s   configure todo background=1h when=vpn
      1s   answers 1-1 todo when no
      2s   next
      31s  next
      """,
      gives: """
        2s next 31s
        31s next none
        """, only: ["next"])
  }

  @Test func `A person who asks for a refresh, another network and the end of sleep have it asked anew`() throws {
    try expect(
      """
      0s     network gone
      0s     configure todo background=1h when=vpn says=no
      8min   run todo
      9min   network wired
      9min5s network gone
      10min  resumed
      11min  end
      """,
      gives: """
        0s ask 1-1 todo when
        30s ask 1-2 todo when
        1min30s ask 1-3 todo when
        3min30s ask 1-4 todo when
        7min30s ask 1-5 todo when
        8min ask 1-6 todo when
        8min30s ask 1-7 todo when
        9min ask 1-8 todo when
        9min10s ask 1-9 todo when
        9min40s ask 1-10 todo when
        10min ask 1-11 todo when
        10min30s ask 1-12 todo when
        """)
  }

  @Test(arguments: ["pause", "network gone", "mounted /media/backup no", "sleeps-in 5s"])
  func `Nothing is asked while something else holds the app`(hold: String) throws {
    try expect(
      """
      0s    network wired
      0s    mounted /media/backup yes
      0s    configure todo background=1h network=any mounted=/media/backup when=vpn says=yes
      10min \(hold)
      5h    why todo
      """,
      gives:
        "5h why todo: held \(hold == "pause" ? "paused" : hold.hasPrefix("sleeps") ? "suspending" : String(hold.split(separator: " ")[0]))",
      only: ["why"])
    try expect(
      """
      0s    network wired
      0s    mounted /media/backup yes
      0s    configure todo background=1h network=any mounted=/media/backup when=vpn says=yes
      10min \(hold)
      5h    end
      """, gives: "0s ask 1-1 todo when", only: ["ask"])
  }

  @Test func `Two commands of an app are asked one after the other`() throws {
    try expect(
      """
      0s    configure todo background=1h when=vpn reachable=nas:22
      1s    answers 1-1 todo reachable yes
      2s    answers 1-2 todo when yes
      9s    end
      """,
      gives: """
        0s ask 1-1 todo reachable
        1s ask 1-2 todo when
        2s start 1-3 todo (interval)
        3s end 1-3 todo new-data
        """)
  }

  @Test func `While one command says no, the other is not asked again`() throws {
    try expect(
      """
      0s     configure todo background=1h when=vpn reachable=nas:22
      1s     answers 1-1 todo reachable yes
      2s     answers 1-2 todo when no
      32s    answers 1-3 todo when no
      75s    wake
      80s    why todo
      1min32s answers 1-4 todo when yes
      1min33s answers 1-5 todo reachable yes
      2min   end
      """,
      gives: """
        0s ask 1-1 todo reachable
        1s ask 1-2 todo when
        32s ask 1-3 todo when
        1min20s why todo: held when
        1min32s ask 1-4 todo when
        1min32s ask 1-5 todo reachable
        1min33s start 1-6 todo (interval)
        1min34s end 1-6 todo new-data
        """)
  }

  @Test func `A transfer waits for the disk that its app's file names, and stops when it is gone`() throws {
    try expect(
      """
      0s  mounted /media/backup no
      0s  configure todo foreground=never background=never mounted=/media/backup
      1s  enqueue 1 todo network=none
      2s  transfer 1
      3s  mounted /media/backup yes
      4s  mounted /media/backup no
      5s  report 1 stopped
      6s  transfer 1
      7s  end
      """,
      gives: """
        2s  transfer 1: held mounted
        3s  transfer 1 todo
        4s  stop-transfer 1 todo (network)
        6s  transfer 1: held mounted
        """)
  }

  @Test func `A yes counts on while nothing but a slot is missing, and for that start only`() throws {
    try expect(
      """
      0s      limits places=1
      0s      configure long background=1h takes=90s deadline=3min
      1s      configure long background=1h takes=90s deadline=3min; todo background=1h when=vpn says=yes takes=5s
      92s     run todo
      5min    end
      """,
      gives: """
        0s start 1-1 long (interval)
        1s ask 1-2 todo when
        1min30s start 1-3 todo (interval)
        1min35s ask 1-4 todo when
        1min35s start 1-5 todo (manual)
        """, only: ["ask", "start"])
  }

  @Test func `An answer to another question changes nothing`() throws {
    try expect(
      """
      0s   configure todo background=1h when=vpn
      1s   configure todo background=1h when=other
      2s   answers 1-1 todo when yes
      3s   answers 1-2 todo when no
      4s   answers 1-2 todo when yes
      5s   answers 9-9 todo reachable yes
      6s   why todo
      """,
      gives: """
        0s ask 1-1 todo when
        1s ask 1-2 todo when
        6s why todo: held when
        """)
  }

  @Test func `A person may refresh against conditions of the app's own`() throws {
    try expect(
      """
      0s   mounted /media/backup no
      0s   configure todo background=never mounted=/media/backup when=vpn
      1s   run-anyway todo
      9s   end
      """,
      gives: """
        1s start 1-1 todo (manual)
        2s end 1-1 todo new-data
        """)
  }

  @Test func `What comes is told as if the command answered as it did last`() throws {
    try expect(
      """
      0s    configure todo background=1h when=vpn says=yes; mail background=1h when=home says=no
      10min ahead todo
      10min ahead mail
      10min forecast 2h
      """,
      gives: """
        10min ahead todo: due 1h278ms264us-1h3min50s365ms889us (interval), starts 1h278ms264us-1h3min50s365ms889us
        10min ahead mail: due 290ms487us (interval), held when, does not start
        10min forecast 1h30s290ms487us: todo (interval)
        10min forecast 2h30s290ms487us: todo (interval)
        10min forecast mail: held when
        """, only: ["ahead", "forecast"])
  }

  @Test func `A question that waits for its answer is no wait for the history, and a no is one`() throws {
    var timeline = Timeline()
    try timeline.play(Script("0s configure todo background=1h when=vpn"))
    let todo = try appID("todo")
    #expect(timeline.engine?.state(of: todo)?.waiting == nil)
    try timeline.play(Script("1s answers 1-1 todo when no"))
    #expect(timeline.engine?.state(of: todo)?.waiting?.holds == [.when])
  }
}
