import RefreshAPI
import Testing

@testable import refreshctl

/// The output of `forecast`.
@Suite struct ForecastTests {
  private static func wake(at start: Int64, _ starts: (String, Wire.Trigger)...) -> Wire.ForecastWake {
    Wire.ForecastWake(
      window: Wire.Window(earliestMicroseconds: start, latestMicroseconds: start + span(m: 5)),
      starts: starts.map { Wire.ForecastStart(app: $0, trigger: $1) })
  }

  private static func reply(
    _ wakes: [Wire.ForecastWake], _ rest: [Wire.ForecastRest] = [], isCut: Bool = false,
    hasAppsOfOthers: Bool? = nil
  ) -> ManagerInterface.Forecast.Reply {
    .init(
      fromMicroseconds: noon, untilMicroseconds: noon + span(h: 24), isCut: isCut, wakes: wakes, rest: rest,
      hasAppsOfOthers: hasAppsOfOthers)
  }

  @Test func `A user without apps is told of those of others`() {
    #expect(screen().text(Self.reply([])) == ["Nothing will be refreshed in the next 24 h."])
    let none = screen().text(Self.reply([], hasAppsOfOthers: true)).joined(separator: " ")
    #expect(none.hasPrefix("You have no apps. There are apps of other users."))
    #expect(
      screen().text(Self.reply([], [Self.later], hasAppsOfOthers: true)).first
        == "Nothing will be refreshed in the next 24 h.")
  }

  private static let held = Wire.ForecastRest(
    app: "org.example.photos",
    holds: [
      Wire.Hold(name: "network", remedy: "a network that it asks for; refreshctl why org.example.photos says which")
    ])
  private static let later = Wire.ForecastRest(
    app: "org.example.backup", dueMicroseconds: noon + span(d: 3), holds: [])

  @Test func aWakeIsOneTimeAndTheAppsThatShareIt() {
    let wakes = [
      Self.wake(at: noon + span(m: 30), ("org.example.mail", .interval), ("org.example.todo", .catchUp)),
      Self.wake(at: noon + span(h: 2), ("org.example.mail", .interval)),
    ]
    #expect(
      screen(width: 80).text(Self.reply(wakes, [Self.held, Self.later])) == [
        "3 refreshes of 2 apps in 2 wakes in the next 24 h.",
        "",
        "WHEN         APP               TRIGGER   THEN",
        "today 12:30  org.example.mail  interval",
        "             org.example.todo  catch-up  same wake",
        "today 14:00  org.example.mail  interval",
        "",
        "Not until then:",
        "  org.example.photos   held: network (a network that it asks for; refreshctl why",
        "                       org.example.photos says which)",
        "  org.example.backup   due in 3 d, Tue 24 Nov 12:00",
        "",
        "The forecast assumes that nobody opens or leaves an app, nothing is pushed,",
        "network and power stay as they are, and each refresh ends at once with no data.",
        "A wake may be as late as its window allows.",
      ])
  }

  @Test func aGuardIsToldWithItsNextChanges() {
    func change(_ hours: Int64, _ holds: String...) -> Wire.ForecastChange {
      Wire.ForecastChange(atMicroseconds: noon + span(h: hours), holds: holds)
    }
    let nights = (0..<6).map { $0 % 2 == 0 ? change(10 + 12 * $0, "quiet") : change(10 + 12 * $0) }
    let reply = ManagerInterface.Forecast.Reply(
      fromMicroseconds: noon, untilMicroseconds: noon + span(h: 24), isCut: false, wakes: [], rest: [],
      guards: [
        Wire.ForecastGuard(app: "a.off", unit: "off.service", changes: [change(0, "paused", "network")]),
        Wire.ForecastGuard(app: "a.sync", unit: "sync.service", changes: [change(0)] + nights),
      ])
    #expect(
      screen().text(reply) == [
        "Nothing will be refreshed in the next 24 h.",
        "",
        "Guarded units:",
        "  a.off    off.service: held: paused, network",
        "  a.sync   sync.service: may run; from today 22:00 on held: quiet; from tomorrow 10:00 on may run; from "
          + "tomorrow 22:00 on held: quiet; and so on",
      ])
  }

  @Test func whatRepeatsIsOneRowAlsoAmongOthers() {
    let often = (1...1440).map { Self.wake(at: noon + span(m: Int64($0)), ("org.example.mail", .interval)) }
    let wakes = often.enumerated().map { index, wake in
      index == 89
        ? Self.wake(at: wake.window.earliestMicroseconds, ("org.example.mail", .interval), ("org.example.todo", .push))
        : wake
    }
    #expect(
      screen().text(Self.reply(wakes)).prefix(5) == [
        "1,441 refreshes of 2 apps in 1,440 wakes in the next 24 h.",
        "",
        "WHEN            IN             APP               TRIGGER   THEN",
        "today 12:01:00  in 1 min       org.example.mail  interval  every 1 min until tomorrow 12:00, 1,440 times",
        "today 13:30     in 1 h 30 min  org.example.todo  push",
      ])
  }

  @Test func aDistanceBelowASecondIsNotRoundedToNothing() {
    let wakes = (1...9).map { Self.wake(at: noon + 200_000 * Int64($0), ("org.example.mail", .interval)) }
    #expect(screen().text(Self.reply(wakes)).contains { $0.hasSuffix("every 200 ms until 12:00, 9 times") })
  }

  @Test func startsAtUnevenDistancesStayApart() {
    let wakes = [10, 20, 50, 60, 90].map { Self.wake(at: noon + span(m: $0), ("org.example.mail", .interval)) }
    #expect(ForecastRows(wakes).rows.map(\.count) == [1, 1, 1, 1, 1])
  }

  @Test func pushesAndTransfersThatStillWaitAreNamed() {
    let push = Wire.PushWaiting(
      contentID: "42", urgency: .low, arrivedMicroseconds: noon - span(h: 1), merged: 0, wait: "terminated")
    let reply = ManagerInterface.Forecast.Reply(
      fromMicroseconds: noon, untilMicroseconds: noon + span(h: 24), isCut: false, wakes: [], rest: [],
      aloneFromMicroseconds: noon + span(h: 1),
      pushes: [Wire.ForecastPushes(app: "org.example.mail", pushes: [push])],
      transfers: [
        Wire.ForecastTransfer(
          app: "org.example.todo", id: 17, holds: [Wire.Hold(name: "network", remedy: "a network that is not metered")])
      ])
    let text = screen().text(reply)
    #expect(text.contains("Still waiting at the end:"))
    #expect(
      text.contains(
        "  org.example.mail   a push with content 42, low, came today 11:00: waits for the next start of the app, "
          + "which the user has quit"))
    #expect(text.contains("  org.example.todo   transfer 17 is held: network (a network that is not metered)"))
  }

  @Test func theFirstLineSaysThatNothingIsPlanned() {
    #expect(screen().text(Self.reply([], [Self.later])).first == "Nothing will be refreshed in the next 24 h.")
  }

  @Test func aForecastThatIsCutSaysSo() {
    let text = screen().text(Self.reply([Self.wake(at: noon, ("org.example.mail", .interval))], isCut: true))
    #expect(text[0...1].joined(separator: " ").contains("More refreshes follow"))
  }
}
