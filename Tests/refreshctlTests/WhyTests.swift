import RefreshAPI
import Testing

@testable import refreshctl

/// The output of `why`.
@Suite struct WhyTests {
  private static let metered = Wire.Term(
    constraint: "network", needs: "unmetered", waitsFor: "an unmetered network", has: "wlan0, metered",
    source: "NetworkManager", isMet: false,
    isUnknown: false, relaxedMicroseconds: noon + span(h: 18), isRelaxed: false)
  private static let onBattery = Wire.Term(
    constraint: "power", needs: "ac", waitsFor: "mains power", has: "on battery, 64 %", source: "UPower", isMet: false,
    isUnknown: false,
    isRelaxed: false)
  private static let unknownIdle = Wire.Term(
    constraint: "idle", needs: "an idle user", source: "", isMet: false, isUnknown: true, isRelaxed: false)

  private static let sentences: [(Wire.Explanation, String)] = [
    (
      explanation(
        trigger: .interval,
        window: Wire.Window(earliestMicroseconds: noon + span(m: 132), latestMicroseconds: noon + span(m: 139))),
      "Todo (org.example.todo) is in the background. It will be refreshed between today 14:12 and today 14:19 (in 2 h 12 min), "
        + "because its background interval is 24h."
    ),
    (
      explanation(
        trigger: .interval,
        window: Wire.Window(earliestMicroseconds: noon + span(h: 1), latestMicroseconds: noon + span(h: 1)),
        freshUntil: noon + span(h: 1)),
      "Todo (org.example.todo) is in the background. It will be refreshed in 1 h (today 13:00), "
        + "because its server has nothing newer before that."
    ),
    (
      explanation(
        trigger: .interval,
        window: Wire.Window(earliestMicroseconds: noon + span(h: 18), latestMicroseconds: noon + span(h: 18)),
        freshUntil: noon + span(h: 24)),
      "Todo (org.example.todo) is in the background. It will be refreshed in 18 h (tomorrow 06:00), when its data reaches "
        + "the age limit, although its server has nothing newer before tomorrow 12:00."
    ),
    (
      explanation(
        trigger: .manual,
        window: Wire.Window(earliestMicroseconds: noon + span(h: 1), latestMicroseconds: noon + span(h: 1)),
        oneShot: Wire.OneShot(earliestMicroseconds: noon + span(h: 1), reason: "before the train")),
      "Todo (org.example.todo) is in the background. It will be refreshed in 1 h (today 13:00), "
        + "because somebody asked for it: “before the train”."
    ),
    (
      explanation(
        window: Wire.Window(earliestMicroseconds: noon - span(m: 20), latestMicroseconds: noon), holds: ["network"],
        terms: [metered], waiting: noon - span(m: 5),
        next: nextHeld([("network", nil)], start: noon + span(h: 18), due: noon - span(m: 20))),
      "Todo (org.example.todo) is in the background. It is due since today 11:40 but waits for an unmetered network "
        + "(wlan0, metered, NetworkManager says so); at the latest tomorrow 06:00 it will use any network."
    ),
    (
      explanation(holds: ["network", "power"], terms: [metered, onBattery], waiting: noon - span(m: 20)),
      "Todo (org.example.todo) is in the background. It is due since today 11:40 but waits for an unmetered network "
        + "(wlan0, metered, NetworkManager says so) and for mains power (on battery, 64 %, UPower says so)."
    ),
    (
      explanation(holds: ["idle"], terms: [unknownIdle], waiting: noon - span(m: 20)),
      "Todo (org.example.todo) is in the background. It is due since today 11:40 but waits for an idle user (unknown)."
    ),
    (
      explanation(
        holds: ["paused", "quiet"], pause: Wire.PauseState(untilMicroseconds: noon + span(h: 2), untilAC: false),
        waiting: noon - span(m: 20)),
      "Todo (org.example.todo) is in the background. It is due since today 11:40 but waits for the end of the pause of all apps "
        + "(until today 14:00, in 2 h) and for the end of its quiet hours."
    ),
    (
      explanation(holds: ["app"], waiting: noon - span(m: 20)),
      "Todo (org.example.todo) is in the background. It is due since today 11:40 but waits for the app: no process is attached, "
        + "and its file has no task."
    ),
    (
      explanation(holds: ["disabled"], isDisabled: true),
      "Todo (org.example.todo) is in the background. It is disabled: not refreshed until `refreshctl enable org.example.todo`."
    ),
    (
      explanation(holds: ["never"]),
      "Todo (org.example.todo) is in the background. It is not refreshed by time, because its background interval is never; "
        + "`refreshctl run org.example.todo` refreshes it now."
    ),
    (explanation(), "Todo (org.example.todo) is in the background. No refresh is planned."),
  ]

  @Test(arguments: sentences) func theReasonIsASentence(_ why: Wire.Explanation, _ sentence: String) {
    #expect(screen().sentence(why) == sentence)
  }

  private static let state = "Todo (org.example.todo) is in the background. "
  private static let dueSoon = Wire.Window(
    earliestMicroseconds: noon + span(m: 53), latestMicroseconds: noon + span(m: 56))

  /// The headline before it is due, while something will hold it then.
  private static let ahead: [(Wire.Explanation, String)] = [
    (
      soon([("paused", nil)], pause: Wire.PauseState(untilAC: false)),
      "Due in 53 min (today 12:53); then it waits: all apps are paused (`refreshctl resume`)."
    ),
    (
      soon(
        [("paused", noon + span(h: 2))], start: noon + span(h: 2),
        pause: Wire.PauseState(untilMicroseconds: noon + span(h: 2), untilAC: false)),
      "Due in 53 min (today 12:53); then it waits: all apps are paused (until today 14:00, in 2 h, or "
        + "`refreshctl resume`)."
    ),
    (
      soon([("paused", nil)], pause: Wire.PauseState(untilAC: true)),
      "Due in 53 min (today 12:53); then it waits: all apps are paused (until the machine is on mains power, or "
        + "`refreshctl resume`)."
    ),
    (
      soon([("paused", nil)], start: noon + span(h: 3), pause: Wire.PauseState(untilAC: false)),
      "Due in 53 min (today 12:53); then it waits: all apps are paused (`refreshctl resume`); it starts "
        + "today 15:00 (in 3 h)."
    ),
    (
      soon([("quiet", noon + span(h: 19, m: 2))], start: noon + span(h: 19, m: 2)),
      "Due in 53 min (today 12:53); then it waits for the end of its quiet hours (07:00, for this app tomorrow 07:02: "
        + "starts are spread over 5 min)."
    ),
    (
      soon([("power", nil)], terms: [onBattery]),
      "Due in 53 min (today 12:53); then it waits for mains power (on battery, 64 %, UPower says so)."
    ),
    (
      soon([("network", noon + span(h: 18))], start: noon + span(h: 18), terms: [metered]),
      "Due in 53 min (today 12:53); then it waits for an unmetered network (wlan0, metered, NetworkManager says so); "
        + "at the latest tomorrow 06:00 it will use any network."
    ),
    (
      soon([("network", noon + span(h: 18))], terms: [metered]),
      "Due in 53 min (today 12:53); then it waits for an unmetered network (wlan0, metered, NetworkManager says so); "
        + "from tomorrow 06:00 on any network will do."
    ),
    (
      soon(
        [("network", noon + span(h: 18)), ("quiet", noon + span(h: 19))], start: noon + span(h: 19), terms: [metered]),
      "Due in 53 min (today 12:53); then it waits for an unmetered network (wlan0, metered, NetworkManager says so) and "
        + "for the end of its quiet hours (tomorrow 07:00); it starts at the latest tomorrow 07:00 (in 19 h)."
    ),
    (
      explanation(trigger: .interval, window: dueSoon, skippedUntil: noon + span(m: 53)),
      "It will be refreshed between today 12:53 and today 12:56 (in 53 min), because the refresh before it is skipped."
    ),
    (
      explanation(trigger: .retry, window: dueSoon, skippedUntil: noon + span(m: 53), skipsAll: true),
      "It will be refreshed between today 12:53 and today 12:56 (in 53 min), because refreshes by time are skipped until "
        + "then (`refreshctl skip org.example.todo --end` ends that)."
    ),
    (
      explanation(trigger: .interval, window: dueSoon, restsUntil: noon + span(m: 53)),
      "It will be refreshed between today 12:53 and today 12:56 (in 53 min), after a rest: it exceeded its "
        + "deadline three times within a day."
    ),
    (
      explanation(
        trigger: .interval, window: dueSoon,
        next: Wire.Next(
          trigger: .interval, due: dueSoon, holds: [],
          start: Wire.Window(earliestMicroseconds: noon + span(h: 26), latestMicroseconds: noon + span(h: 26, m: 9)),
          plannedMicroseconds: noon + span(h: 12))),
      "It will be refreshed between tomorrow 14:00 and tomorrow 14:09 (in 1 d 2 h), as far as is known now; the plan "
        + "is made tomorrow 00:00."
    ),
    (
      explanation(holds: ["logged-out"], awaitsSessionOf: "anna"),
      "It is not refreshed until anna has a session, or until `refreshctl login org.example.todo`."
    ),
    (
      explanation(
        trigger: .interval, window: dueSoon,
        pushes: [
          Wire.PushWaiting(urgency: .normal, arrivedMicroseconds: noon - 1, merged: 0, wait: "terminated")
        ]),
      "It will be refreshed between today 12:53 and today 12:56 (in 53 min), because its background interval is 24h. "
        + "A push waits: the user has quit the app; start it, or run `refreshctl launched org.example.todo`."
    ),
  ]

  private static func soon(
    _ holds: [(String, Int64?)], start: Int64? = nil, terms: [Wire.Term] = [], pause: Wire.PauseState? = nil
  ) -> Wire.Explanation {
    explanation(trigger: .interval, window: dueSoon, terms: terms, pause: pause, next: nextHeld(holds, start: start))
  }

  @Test(arguments: ahead) func theHeadlineSaysWhatHoldsItWhenItIsDue(_ why: Wire.Explanation, _ sentence: String) {
    #expect(screen().sentence(why) == Self.state + sentence)
  }

  @Test func aRetryOfWhatSleepStoppedIsNoRetryOfAFailure() {
    let cause = Wire.Cause(kind: .stopped, stopReason: .sleep, text: "stopped: the machine was going to sleep")
    let why = explanation(
      trigger: .retry, window: Self.dueSoon,
      past: [Wire.Past(refresh: refresh(at: noon - span(h: 1), .failed, cause: cause))])
    #expect(
      screen().sentence(why).hasSuffix(
        ", because the last one was interrupted (stopped: the machine was going to sleep)."))
    #expect(screen().text(why).last == "today 11:00  stopped  interval: stopped: the machine was going to sleep")
  }

  @Test func theProblemOfASourceIsBelowItsTerm() {
    let why = explanation(
      holds: ["network", "power"], terms: [Self.metered, Self.onBattery], problem: "NetworkManager does not answer",
      powerProblem: "UPower is not on the bus")
    let lines = screen(width: 120).text(why)
    let facts = lines.filter { line in
      ["network  ", "power  ", "NetworkManager", "UPower"].contains { line.contains("  " + $0) }
    }
    #expect(
      facts == [
        "  network    unmetered: wlan0, metered (NetworkManager), not met, required until tomorrow 06:00",
        "             NetworkManager does not answer",
        "  power      ac: on battery, 64 % (UPower), not met",
        "             UPower is not on the bus",
      ])
  }

  @Test func aRefreshForAPushNamesThePush() {
    let pushed = Wire.Refresh(
      id: "12-345", app: "org.example.todo", trigger: .push, startedMicroseconds: noon, durationMicroseconds: 1,
      outcome: .noData, cpuMicroseconds: 1, extraCompletions: 0, tasks: [], contentID: "42", merged: 2)
    #expect(
      screen().text(explanation(past: [Wire.Past(refresh: pushed)])).last
        == "today 12:00:00  no data  push (content 42, instead of 2 others)")
  }

  @Test func aProcessingTaskSaysWhatItNeeds() {
    let lines = screen(width: 120).text(explanation(terms: [Self.unknownIdle], isProcessing: true))
    #expect(
      lines.filter { $0.contains("kind  ") || $0.contains("idle  ") } == [
        "  kind       long work: only while nobody uses the machine and it is on mains power",
        "  idle       an idle user: unknown, not met",
      ])
  }

  @Test func theTermsAndThePastFitInEightyColumns() {
    let wait = Wire.Wait(
      sinceMicroseconds: noon - span(h: 7), untilMicroseconds: noon - span(h: 6), holds: ["network", "power"])
    let why = explanation(
      holds: ["network"], terms: [Self.metered], pause: Wire.PauseState(untilAC: true), waiting: noon - span(m: 20),
      failures: 2, problem: "NetworkManager is not on the bus; rtnetlink cannot tell whether a network is metered",
      past: [Wire.Past(refresh: refresh(at: noon - span(h: 6), .noData)), Wire.Past(wait: wait)],
      next: nextHeld([("network", nil)], start: noon + span(h: 18), due: noon - span(m: 20)))
    let lines = screen(width: 80).text(why)
    #expect(lines.allSatisfy { $0.count <= 80 })
    #expect(
      lines == [
        "Todo (org.example.todo) is in the background. It is due since today 11:40 but",
        "waits for an unmetered network (wlan0, metered, NetworkManager says so); at the",
        "latest tomorrow 06:00 it will use any network.",
        "",
        "  last refresh   today 06:00, no data, took 1.8 s, 300 ms CPU (interval)",
        "  data age       6 h, floor today 11:40, ceiling tomorrow 06:00",
        "  network        unmetered: wlan0, metered (NetworkManager), not met, required",
        "                 until tomorrow 06:00",
        "                 NetworkManager is not on the bus; rtnetlink cannot tell whether",
        "                 a network is metered",
        "  quiet          22:00 to 07:00",
        "  switch         enabled, all apps paused until the machine is on mains power",
        "  retry          2 failures in a row that allow a retry",
        "",
        "WHEN         WHAT        WHY",
        "today 06:00  no data     interval",
        "today 05:00  waited 1 h  held: network, power",
      ])
  }
}
