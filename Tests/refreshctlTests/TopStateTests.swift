import RefreshAPI
import Testing

@testable import refreshctl

/// The keys of the live screen, as a script: keys in, requests out.
@Suite struct TopStateTests {
  /// Applies the keys of a text; `↑`, `↓`, `⏎`, `⎋` and `⌫` stand for the keys of these signs.
  private func press(_ text: String, _ top: inout TopState) -> [TopRequest] {
    let named: [Character: TopKey] = ["↑": .up, "↓": .down, "⏎": .enter, "⎋": .escape, "⌫": .backspace]
    return text.compactMap { top.press(named[$0] ?? .character($0)) }
  }

  private static let requests: [(String, [TopRequest])] = [
    ("r", [.run("org.a")]),
    ("jr", [.run("org.b")]),
    ("↓↓↓↓r", [.run("org.c")]),
    ("↓↓↑r", [.run("org.b")]),
    ("Gr", [.run("org.c")]),
    ("Ggr", [.run("org.a")]),
    ("d", [.disable("org.a")]),
    ("jd", [.enable("org.b")]),
    ("f", [.signal("org.a", .background)]),
    ("jf", [.signal("org.b", .foreground)]),
    ("p", [.pause]),
    ("w", [.why("org.a")]),
    ("⏎q", [.why("org.a")]),
    ("⏎⎋q", [.why("org.a"), .quit]),
    // The actions of an explanation are about its app.
    ("jwdr", [.why("org.b"), .enable("org.b"), .run("org.b")]),
    // The help shows keys and ignores all of them except the key for all apps.
    ("?rdfq", []),
    ("?qq", [.quit]),
    // The filter accepts letters that are keys elsewhere.
    ("/zrq⎋r", [.run("org.a")]),
    ("/third⏎r", [.run("org.c")]),
    ("/org.b⏎d", [.enable("org.b")]),
    ("/none⏎rdfw", []),
    ("/bx⌫⏎r", [.run("org.b")]),
    ("/b⏎⎋↓r", [.run("org.c")]),
    ("xyz", []),
  ]

  @Test(arguments: requests) func keysAskForCalls(keys: String, expected: [TopRequest]) {
    var top = topOfThree()
    #expect(press(keys, &top) == expected)
  }

  @Test func aPauseIsEndedByItsKey() {
    var top = topOfThree()
    top.pause = Wire.PauseState(untilAC: false)
    #expect(press("p", &top) == [.resume])
  }

  @Test func theSelectionStaysOnItsAppOrItsRow() {
    var top = topOfThree()
    #expect(press("j", &top).isEmpty && top.selection == "org.b")
    top.show(.init(apps: [topApp("org.0"), topApp("org.a"), topApp("org.b")]))
    #expect(top.selection == "org.b")
    top.show(.init(apps: [topApp("org.0"), topApp("org.a"), topApp("org.c")]))
    #expect(top.selection == "org.c")
    top.show(.init(apps: [topApp("org.0")]))
    #expect(top.selection == "org.0")
    top.show(.init(apps: []))
    #expect(top.selected == nil && press("rdfw", &top).isEmpty)
  }

  @Test func anActionOnAPageIsNeverAboutAnotherApp() {
    var top = topOfThree()
    #expect(press("w", &top) == [.why("org.a")])
    top.show(.init(apps: [topApp("org.b")]))
    #expect(press("rd", &top).isEmpty)
  }

  @Test func aLateExplanationOpensNoPage() {
    var top = topOfThree()
    #expect(press("w⎋", &top) == [.why("org.a")])
    top.show(explanation())
    #expect(top.page == .list)
  }

  @Test func aMessageIsShownUntilTheNextKey() {
    var top = topOfThree()
    top.say("done")
    #expect(top.message?.text == "done")
    _ = top.press(.down)
    #expect(top.message == nil)
  }
}

func topApp(
  _ id: String, name: String? = nil, phase: Wire.Phase = .background, verdict: Wire.Verdict = .notDue,
  holds: [String] = [], last: Wire.LastRefresh? = nil
) -> Wire.App {
  Wire.App(
    id: id, name: name ?? id, owner: "anna", phase: phase, verdict: verdict,
    dueMicroseconds: verdict == .notDue ? noon + span(m: 12) : nil,
    holds: holds.map { Wire.Hold(name: $0, remedy: "wait") }, last: last,
    freshMicroseconds: last.map { $0.endedMicroseconds })
}

/// Three apps: one in the foreground, one that is disabled, one that runs.
func topOfThree() -> TopState {
  var top = TopState()
  top.show(
    .init(apps: [
      topApp(
        "org.a", phase: .foreground, last: Wire.LastRefresh(outcome: .newData, endedMicroseconds: noon - span(m: 2))),
      topApp("org.b", verdict: .held, holds: ["disabled"]),
      topApp(
        "org.c", name: "The third", verdict: .refreshing,
        last: Wire.LastRefresh(outcome: .failed, cause: "exit code 3", endedMicroseconds: noon - span(h: 3))),
    ]))
  return top
}
