import RefreshEngine
import Testing

/// Apps that need attention, so that "All is well" is true.
@Suite struct TroubleTests {
  private static let away = "0s mounted /m no\n0s configure todo background=1h mounted=/m"
  private static let once = "0s mounted /m yes\n0s configure todo background=1h mounted=/m takes=1s"

  @Test(arguments: [
    ("0s configure todo background=1h takes=1s\n30h end", nil),
    ("0s configure todo background=1h takes=forever\n1s ends 1-1 0 exit=1\n2s end", nil),
    (
      "0s configure todo background=1h takes=forever\n1s ends 1-1 0 exit=1\n1h1s ends 1-2 0 exit=1\n1h2s end",
      "failing 2"
    ),
    (
      "0s configure todo background=1h takes=forever notice-after=3\n1s ends 1-1 0 exit=1\n1h1s ends 1-2 0 exit=1\n1h2s end",
      "never worked"
    ),
    ("0s configure todo background=1h takes=forever notice-after=100\n3h end", "resting"),
    ("\(away)\n59min end", nil),
    ("\(away)\n1h end", "never worked"),
    ("\(away)\n30min disable todo\n2h end", nil),
    ("\(once)\n10s mounted /m no\n3h59min end", nil),
    ("\(once)\n10s mounted /m no\n4h1s end", "late"),
    ("\(once) stale-after=2h\n10s mounted /m no\n2h end", "late"),
    ("\(once) background=auto,1h\n10s mounted /m no\n72h end", nil),
    ("\(once) background=auto,1h\n10s mounted /m no\n73h1s end", "late"),
    ("\(once)\n10s mounted /m no\n4h logout todo\n5h end", nil),
  ])
  func `An app that fails, rests, never worked or is late needs attention`(script: String, trouble: String?) throws {
    var timeline = Timeline()
    try timeline.play(Script(script))
    let found = try timeline.engine?.trouble(of: appID("todo"), at: timeline.instant)
    switch found {
    case nil: #expect(trouble == nil)
    case .failing(let count): #expect(trouble == "failing \(count)")
    case .resting: #expect(trouble == "resting")
    case .neverWorked: #expect(trouble == "never worked")
    case .late: #expect(trouble == "late")
    }
  }
}
