import RefreshAPI
import Testing

@testable import refreshctl

/// The lines of `watch`.
@Suite struct WatchTests {
  private static let wait = Wire.Wait(
    sinceMicroseconds: noon - span(h: 2), untilMicroseconds: noon, holds: ["network", "power"])
  private static let failed = refresh(at: noon, .failed, cause: Wire.Cause(kind: .exit, code: 3, text: "exit code 3"))
  private static let app = "org.example.todo"

  private static let lines: [(Wire.WatchEvent, String?)] = [
    (Wire.WatchEvent(kind: .watching, atMicroseconds: noon), nil),
    (
      Wire.WatchEvent(kind: .started, atMicroseconds: noon, app: app, id: "12-345", trigger: .catchUp),
      "org.example.todo: refresh 12-345 starts (catch-up)"
    ),
    (
      Wire.WatchEvent(kind: .ended, atMicroseconds: noon, app: app, refresh: failed),
      "org.example.todo: refresh 12-345: failed after 1.8 s: exit code 3"
    ),
    (
      Wire.WatchEvent(kind: .progress, atMicroseconds: noon, app: app, id: "12-345", task: "pull", text: "2 of 3"),
      "org.example.todo: pull: 2 of 3"
    ),
    (
      Wire.WatchEvent(
        kind: .taskEnded, atMicroseconds: noon, app: app, id: "12-345", task: "pull", text: "2 mails",
        outcome: .newData),
      "org.example.todo: pull of refresh 12-345 has ended: new data: 2 mails"
    ),
    (
      Wire.WatchEvent(kind: .held, atMicroseconds: noon, app: app, holds: [Wire.Hold(name: "quiet", remedy: "wait")]),
      "org.example.todo: held: quiet"
    ),
    (
      Wire.WatchEvent(kind: .released, atMicroseconds: noon, app: app, wait: wait),
      "org.example.todo: no longer held by network, power, after 2 h"
    ),
    (
      Wire.WatchEvent(kind: .phaseChanged, atMicroseconds: noon, app: app, phase: .loggedOut),
      "org.example.todo: logged out"
    ),
    (
      Wire.WatchEvent(
        kind: .conditionChanged, atMicroseconds: noon, condition: "power_saver",
        state: Wire.Condition(value: "on", source: "power-profiles-daemon")),
      "power saver: on (power-profiles-daemon)"
    ),
    (
      Wire.WatchEvent(
        kind: .conditionChanged, atMicroseconds: noon, condition: "idle", state: Wire.Condition(source: "")),
      "idle: unknown"
    ),
    (
      Wire.WatchEvent(kind: .switchChanged, atMicroseconds: noon, app: app, isDisabled: true),
      "org.example.todo: disabled"
    ),
    (
      Wire.WatchEvent(kind: .switchChanged, atMicroseconds: noon, pause: Wire.PauseState(untilAC: true)),
      "all apps are paused until the machine is on mains power"
    ),
    (
      Wire.WatchEvent(kind: .push, atMicroseconds: noon, app: app, contentID: "42", fate: .merged),
      "org.example.todo: a push with content 42 has arrived, instead of a waiting push"
    ),
    (
      Wire.WatchEvent(kind: .push, atMicroseconds: noon, app: app, fate: .told),
      "org.example.todo: a push has arrived, but wakes no app; attached processes receive it"
    ),
    (Wire.WatchEvent(kind: .switchChanged, atMicroseconds: noon), "the pause of all apps has ended"),
  ]

  @Test(arguments: lines) func anEventIsALine(_ event: Wire.WatchEvent, _ line: String?) {
    #expect(screen().line(event) == line.map { "today 12:00:00  " + $0 })
  }
}
