import RefreshEngine
import Testing

/// Pushes: when they wake an app, and with which payload.
@Suite struct PushesTests {
  @Test func `A push wakes the app at once with its payload`() throws {
    try expect(
      """
      0s  configure todo foreground=never background=never
      0s    network wired
      0s    power mains
      1s  push 1 todo 42
      1h  end
      """,
      gives: """
        1s  start 1-1 todo (push 42#1)
        2s  end 1-1 todo new-data
        """)
  }

  @Test func `Four in a hundred minutes wake the app, and a fifth if it is urgent; what is more waits in order`() throws
  {
    try expect(
      """
      0s    configure todo foreground=never background=never
      0s    network wired
      0s    power mains
      1min  push 1 todo
      2min  push 2 todo
      3min  push 3 todo
      4min  push 4 todo
      5min  push 5 todo urgency=high
      6min  push 6 todo
      7min  push 7 todo
      8min  pushes todo
      3h    end
      """,
      gives: """
        1min start 1-1 todo (push #1)
        2min start 1-2 todo (push #2)
        3min start 1-3 todo (push #3)
        4min start 1-4 todo (push #4)
        5min start 1-5 todo (push #5)
        8min pushes todo: #6 not before 1h42min, #7 in turn
        1h42min start 1-6 todo (push #6)
        1h43min start 1-7 todo (push #7)
        """, only: ["start", "pushes"])
  }

  @Test func `An urgent push goes before sixty-two that wait, and is not the one to be dropped`() throws {
    let pushes = (2...65).map { "1min push \($0) todo n\($0)" }.joined(separator: "\n")
    try expect(
      """
      0s   configure todo foreground=never background=never pushes=1/2
      0s   power mains
      1min push 1 todo a
      \(pushes)
      2min push 66 todo now urgency=high
      3min push 67 todo too urgency=high
      4min push 68 todo b
      3h   end
      """,
      gives: """
        1min start 1-1 todo (push a#1)
        1min drop todo n2
        2min start 1-2 todo (push now#66)
        4min drop todo n3
        2h1min start 1-3 todo (push too#67)
        """, only: ["start", "drop"])
  }

  @Test func `The limit and what waits for it outlive the daemon and the boot`() throws {
    try expect(
      """
      0s    configure todo foreground=never background=never pushes=1/1
      0s    network wired
      0s    power mains
      1min  push 1 todo a
      2min  push 2 todo b
      3min  down
      4min  up
      4min  power mains
      5min  pushes todo
      10min boot
      10min power mains
      2h    end
      """,
      gives: """
        1min start 1-1 todo (push a#1)
        5min pushes todo: b#2 not before 1h1min
        1h1min start 3-1 todo (push b#2)
        """, only: ["start", "pushes"])
  }

  @Test func `One that waits is merged with a newer one about the same, and keeps its place and the higher urgency`()
    throws
  {
    try expect(
      """
      0s    configure todo foreground=never background=never pushes=1/1
      0s    network wired
      0s    power mains
      1min  push 1 todo a
      2min  push 2 todo b urgency=high
      3min  push 3 todo c
      4min  push 4 todo b urgency=low
      5min  push 5 todo payload=x
      6min  push 6 todo payload=x
      6min  push 7 todo payload=y
      7min  pushes todo
      8min  power low
      2h    pushes todo
      """,
      gives: """
        7min pushes todo: b#4 (1 merged) not before 1h1min, c#3 in turn, x (1 merged) in turn, y in turn
        2h   pushes todo: c#3 waits for conditions, x (1 merged) waits for conditions, y waits for conditions
        """, only: ["pushes"])
  }

  @Test func `A push during a refresh makes one more after it, merged with others about the same`() throws {
    try expect(
      """
      0s   configure todo foreground=never background=never takes=10s
      0s    network wired
      0s    power mains
      1s   push 1 todo a
      2s   push 2 todo a
      3s   push 3 todo a
      4s   push 4 todo b
      1min end
      """,
      gives: """
        1s  start 1-1 todo (push a#1)
        11s start 1-2 todo (push a#3)
        21s start 1-3 todo (push b#4)
        """, only: ["start"])
  }

  @Test func `Of more than sixty-four, with the one that is told, the oldest is dropped, and said so`() throws {
    let pushes = (1...67).map { "1min push \($0) todo n\($0)" }.joined(separator: "\n")
    try expect(
      "0s configure todo foreground=never background=never pushes=1/1 takes=1s\n0s power mains\n\(pushes)\n10min end",
      gives: """
        1min start 1-1 todo (push n1#1)
        1min drop todo n2
        1min drop todo n3
        1min drop todo n4
        """, only: ["start", "drop"])
  }

  @Test func `Each urgency asks for its own network and power`() throws {
    try expect(
      """
      0s   configure todo foreground=never background=never
      0s   network metered
      0s   power low
      1s   push 1 todo very-low urgency=very-low
      1s   push 2 todo low urgency=low
      1s   push 3 todo normal urgency=normal
      1s   push 4 todo high urgency=high
      1min power battery
      2min network wired
      3min power mains
      4min end
      """,
      gives: """
        1s   start 1-1 todo (push high#4)
        1min start 1-2 todo (push normal#3)
        2min start 1-3 todo (push low#2)
        3min start 1-4 todo (push very-low#1)
        """, only: ["start"])
  }

  @Test func `An app that the user has ended is woken when it is launched, one whose lease broke at once`() throws {
    try expect(
      """
      0s   configure todo foreground=never background=1h ; mail foreground=never background=never
      0s    network wired
      0s    power mains
      1s   terminated todo
      2s   lease 1 launched mail
      3s   lease-ends 1 mail
      4s   push 1 todo a
      4s   push 2 mail b
      5s   pushes todo
      2h   launched todo
      3h   end
      """,
      gives: """
        0s   start 1-1 todo (interval)
        4s   start 1-2 mail (push b#2)
        5s   pushes todo: a#1 waits for the app
        1h   start 1-3 todo (interval)
        2h   start 1-4 todo (interval)
        2h1s start 1-5 todo (push a#1)
        """, only: ["start", "pushes"])
  }

  @Test func `A disabled app, a logged-out one and a pause keep a push until they are over`() throws {
    try expect(
      """
      0s   configure todo foreground=never background=never
      0s    network wired
      0s    power mains
      1s   disable todo
      2s   push 1 todo a
      1min enable todo
      2min logout todo
      3min push 2 todo b
      4min login todo
      5min pause
      6min push 3 todo c
      7min unpause
      8min end
      """,
      gives: """
        1min start 1-1 todo (push a#1)
        4min start 1-2 todo (push b#2)
        7min start 1-3 todo (push c#3)
        """, only: ["start"])
  }

  @Test func `A push leaves what else was asked for, and begins the interval anew`() throws {
    try expect(
      """
      0s    configure todo foreground=never background=1h
      0s    network wired
      0s    power mains
      30min push 1 todo a
      3h    end
      """,
      gives: """
        0s    start 1-1 todo (interval)
        30min start 1-2 todo (push a#1)
        1h30min start 1-3 todo (interval)
        2h30min start 1-4 todo (interval)
        """, only: ["start"])
  }
}
