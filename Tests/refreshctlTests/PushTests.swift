import RefreshAPI
import Testing

@testable import refreshctl

/// Pushes in the output of `push`, `why`, `history` and `status`.
@Suite struct PushTests {
  private static let atLimit = waiting("42", wait: "limit", until: noon + span(m: 12))

  private static let fates: [(Wire.PushFate, String?, Wire.Explanation?, String)] = [
    (.queued, "42", pushed(), "Todo (org.example.todo) is woken with content 42 now."),
    (.queued, nil, pushed(), "Todo (org.example.todo) is woken now."),
    (.queued, "42", pushed([waiting("42")]), "Todo (org.example.todo) is woken with content 42 now."),
    (
      .queued, "42", pushed([waiting("42")], isRunning: true),
      "Todo (org.example.todo) is woken with content 42 later: after the refresh that is running (12-346)."
    ),
    (
      .queued, "42", pushed([waiting("42")], holds: ["paused"]),
      "Todo (org.example.todo) is woken with content 42 later. It waits for the end of the pause of all apps."
    ),
    (
      .queued, "42", pushed([waiting("42")], holds: ["misconfigured"]),
      "Todo (org.example.todo) is woken with content 42 later. It is held for a mistake in its file. refreshd "
        + "reads the file again every few minutes and on `refreshctl reload`: wait."
    ),
    (
      .queued, "42", pushed([atLimit]),
      "Todo (org.example.todo) is woken with content 42 later: 5 pushes in the last 100 min, next today 12:12 (in 12 min)."
    ),
    (
      .merged, "42", pushed([atLimit]),
      "Todo (org.example.todo) is woken with content 42 later, instead of a waiting push: "
        + "5 pushes in the last 100 min, next today 12:12 (in 12 min)."
    ),
    (
      .queued, "43", pushed([atLimit, waiting("43", wait: "turn")]),
      "Todo (org.example.todo) is woken with content 43 later: 1 push waits before it, "
        + "and the next one wakes it today 12:12 (in 12 min)."
    ),
    (
      .queued, nil, pushed([waiting(nil, wait: "urgency", urgency: .veryLow)]),
      "Todo (org.example.todo) is woken later: it waits for mains power and an unmetered network."
    ),
    (
      .queued, nil, pushed([waiting(nil, wait: "terminated")]),
      "Todo (org.example.todo) is woken later: the user has quit it; start it, or run `refreshctl launched org.example.todo`."
    ),
    (.queued, nil, pushed([waiting(nil, wait: "luck")]), "Todo (org.example.todo) is woken later: it waits for luck."),
    (
      .told, "42", pushed(),
      "Todo (org.example.todo) is not woken, because the payload has no `content-available`; only attached processes receive it."
    ),
    (.known, "42", pushed(), "Todo (org.example.todo) is not woken again: a push with this id was accepted before."),
    (.queued, "42", nil, "org.example.todo is woken with content 42 now."),
  ]

  @Test(arguments: fates) func theResultOfAPushIsASentence(
    _ fate: Wire.PushFate, _ content: String?, _ why: Wire.Explanation?, _ sentence: String
  ) {
    let sent = SentPush(app: "org.example.todo", contentID: content, reply: .init(fate: fate, waiting: 1))
    #expect(screen().sentence(sent, why) == sentence)
  }

  @Test func withoutAnExplanationTheTimeComesFromTheReply() {
    let reply = AppInterface.Push.Reply(fate: .queued, waiting: 1, earliestMicroseconds: noon + span(m: 12))
    #expect(
      screen().sentence(SentPush(app: "org.example.todo", contentID: nil, reply: reply), nil)
        == "org.example.todo is woken later: its limit lets the next push through today 12:12 (in 12 min).")
  }

  @Test func whySaysWhatEachPushWaitsForAndHowMuchOfTheLimitIsUsed() {
    let dropped = Wire.DroppedPush(
      contentID: "7", arrivedMicroseconds: noon - span(h: 2), droppedMicroseconds: noon - span(h: 1), merged: 0)
    let why = pushed([Self.atLimit, waiting(nil, wait: "turn", urgency: .low, merged: 2)], dropped: [dropped])
    let lines = screen().text(why)
    let first = lines.firstIndex { $0.contains("  pushes") } ?? 0
    #expect(
      Array(lines[first...]) == [
        "  pushes       content 42, came today 11:30: waits for the limit until today 12:12",
        "               no content id, low, instead of 2 others, came today 11:30: waits for the pushes",
        "               before it",
        "  push limit   5 of 5 in the last 100 min, 3 an hour",
        "  dropped      content 7, came today 10:00: too many newer pushes waited",
      ])
  }

  @Test func whyDoesNotMentionPushesIfThereWereNone() {
    let lines = screen().text(pushed(used: 0))
    #expect(!lines.contains { $0.contains("push") })
  }

  @Test func aLongQueueIsCut() {
    let lines = screen().text(pushed((1...64).map { waiting("\($0)", wait: "turn") }))
    #expect(lines.count { $0.contains("waits for the pushes before it") } == 10)
    #expect(lines.contains { $0.hasSuffix("and 54 more") })
  }

  @Test func theReasonForARefreshIsTheLimit() {
    let window = Wire.Window(earliestMicroseconds: noon + span(m: 12), latestMicroseconds: noon + span(m: 12))
    #expect(
      screen().sentence(pushed([Self.atLimit], trigger: .push, window: window))
        == "Todo (org.example.todo) is in the background. It will be refreshed in 12 min (today 12:12), "
        + "when its limit lets the next push through: 5 pushes in the last 100 min.")
  }

  @Test func theHistoryHasRefreshesAndDroppedPushes() {
    let pushed = Wire.Refresh(
      id: "12-345", app: "org.example.todo", trigger: .push, startedMicroseconds: noon - span(h: 2),
      durationMicroseconds: 1_800_000, outcome: .newData, cpuMicroseconds: 300_000, extraCompletions: 0, tasks: [],
      contentID: "42", merged: 1)
    let dropped = Wire.DroppedPush(
      arrivedMicroseconds: noon - span(h: 3), droppedMicroseconds: noon - span(h: 1), merged: 0)
    #expect(
      screen().text(.init(refreshes: [pushed], pushesDropped: [dropped]), of: "org.example.todo") == [
        "STARTED         ID      TRIGGER  OUTCOME   TOOK   CPU     DETAIL",
        "today 11:00:00          push     dropped                  no content id, came today 09:00: "
          + "too many newer pushes waited",
        "today 10:00:00  12-345  push     new data  1.8 s  300 ms  content 42, instead of 1 other",
      ])
  }

  @Test func theStatusShowsEachSource() {
    let home = Wire.Source(
      name: "home", kind: .ntfy, isConnected: true, sinceMicroseconds: noon - span(h: 1), received: 17, refused: 1)
    let broker = Wire.Source(
      name: "broker", kind: .mqtt, isConnected: false, sinceMicroseconds: noon - span(h: 2),
      problem: "cannot connect: connection refused", retryMicroseconds: noon + span(m: 12), received: 1, refused: 0)
    let state = Wire.PushState(sinceMicroseconds: noon - span(h: 3), mayConnect: true, sources: [home, broker])
    #expect(
      screen().text(state) == [
        "bridge since today 09:00",
        "home (ntfy): connected since today 11:00, 17 messages, 1 refused",
        "broker (mqtt): not connected since today 10:00, 1 message: cannot connect:",
        "connection refused; next attempt in 12 min (today 12:12)",
      ])
    #expect(screen().sentence(state) == "1 push source is not connected: broker.")
  }

  @Test func aSourceThatCannotBringAllOfItsMessagesIsNamed() {
    let home = Wire.Source(
      name: "home", kind: .ntfy, isConnected: true, sinceMicroseconds: noon, problem: "HTTP status 403", received: 0,
      refused: 0)
    let state = Wire.PushState(sinceMicroseconds: noon, mayConnect: true, sources: [home])
    #expect(screen().text(state).last == "home (ntfy): connected since today 12:00:00, 0 messages: HTTP status 403")
    #expect(screen().sentence(state) == "1 push source is connected for some apps only: home.")
  }

  @Test func aSourceThatMayNotConnectIsNoProblem() {
    let home = Wire.Source(
      name: "home", kind: .sse, isConnected: false, sinceMicroseconds: noon, problem: "cannot reach the server",
      received: 0, refused: 0)
    let state = Wire.PushState(sinceMicroseconds: noon, mayConnect: false, sources: [home])
    #expect(screen().text(state).first == "bridge since today 12:00:00; it waits for a network that it may use")
    #expect(screen().sentence(state) == nil)
  }
}

private func waiting(
  _ content: String?, wait: String = "ready", until: Int64? = nil, urgency: Wire.Urgency = .normal, merged: Int = 0
) -> Wire.PushWaiting {
  Wire.PushWaiting(
    contentID: content, urgency: urgency, arrivedMicroseconds: noon - span(m: 30), merged: merged, wait: wait,
    untilMicroseconds: until)
}

private func pushed(
  _ pushes: [Wire.PushWaiting] = [], dropped: [Wire.DroppedPush] = [], holds: [String] = [], isRunning: Bool = false,
  trigger: Wire.Trigger? = nil, window: Wire.Window? = nil, used: Int = 5
) -> Wire.Explanation {
  explanation(
    trigger: trigger, window: window, holds: holds, isRunning: isRunning, pushes: pushes, dropped: dropped,
    limit: Wire.PushLimit(perHour: 3, burst: 5, used: used))
}
