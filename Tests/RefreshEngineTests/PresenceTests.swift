import Testing

/// An app without signals follows what desktops show; a signal takes precedence.
@Suite struct PresenceTests {
  private func phases(_ script: String, give expected: String) throws {
    try expect("0s configure todo foreground=5min background=24h\n" + script, gives: expected, only: ["why"])
  }

  @Test func `An app in front has its foreground interval, and its background interval again behind`() throws {
    try phases(
      """
      1s  shown todo running
      2s  why todo
      3s  shown todo front
      4s  why todo
      5s  shown todo running
      6s  why todo
      7s  shown todo front
      8s  shown todo ended
      9s  why todo
      """,
      give: """
        2s  why todo: not due until 1d
        4s  why todo: not due until 5min
        6s  why todo: not due until 1d
        9s  why todo: not due until 1d
        """)
  }

  @Test func `A desktop that vanishes leaves no app in front`() throws {
    try phases("1s shown todo front\n2s shown todo unknown\n3s why todo", give: "3s why todo: not due until 1d")
  }

  @Test func `An app in front when the machine is suspended is in front when it wakes, and is refreshed then`() throws {
    try expect(
      """
      0s   configure todo foreground=5min background=24h
      1s   shown todo front
      10s  sleeps-in 4s
      12s  suspend 1h
      1h12s resumed
      1h2min end
      """,
      gives: """
        0s     start 1-1 todo (interval)
        1s     end 1-1 todo new-data
        1h32s  start 1-2 todo (interval)
        1h33s  end 1-2 todo new-data
        """)
  }

  @Test func `What the app tells wins over what is shown, until it is seen to start anew`() throws {
    try phases(
      """
      1s   shown todo front
      2s   background todo
      3s   why todo
      4s   shown todo running
      5s   shown todo front
      6s   why todo
      7s   shown todo ended
      8s   shown todo front
      9s   why todo
      """,
      give: """
        3s  why todo: not due until 1d
        6s  why todo: not due until 1d
        9s  why todo: not due until 5min
        """)
  }

  @Test func `An app that has told of the foreground stays there though no desktop shows it`() throws {
    try phases(
      "1s foreground todo\n2s shown todo front\n3s shown todo ended\n4s why todo",
      give: "4s why todo: not due until 5min")
  }

  @Test func `A lease that ends tells that nobody looks, whatever is shown`() throws {
    try phases(
      """
      1s  shown todo front
      2s  lease 1 foreground todo
      3s  lease-ends 1 todo
      4s  why todo
      """, give: "4s why todo: not due until 1d")
  }

  @Test func `A lease of launched says nothing about what the user looks at`() throws {
    try phases("1s lease 1 launched todo\n2s shown todo front\n3s why todo", give: "3s why todo: not due until 5min")
  }

  @Test(arguments: ["no", "yes"])
  func `The end of an app parks its pushes only if its file calls that terminated`(key: String) throws {
    try expect(
      """
      0s   configure todo foreground=never background=1h terminated-on-exit=\(key)
      0s   network wired
      0s   power mains
      1s   shown todo front
      2s   shown todo ended
      3s   push 1 todo a
      4s   shown todo running
      5s   end
      """,
      gives: """
        0s   start 1-1 todo (interval)
        \(key == "no" ? 3 : 4)s   start 1-2 todo (push a#1)
        """, only: ["start"])
  }
}
