import RefreshAPI
import Testing

@testable import refreshctl

/// The rows of the live screen.
@Suite struct TopScreenTests {
  private func draw(
    _ top: TopState, width: Int, height: Int, hasColours: Bool = false
  ) -> [String] {
    let base = screen(width: width, hasColours: hasColours)
    return TopScreen(
      Screen(width: width, hasColours: hasColours, now: noon, calendar: base.calendar, height: height)
    ).rows(of: top)
  }

  @Test func aWideTerminalHasEveryColumn() {
    #expect(
      draw(topOfThree(), width: 100, height: 8) == [
        "3 apps, 1 is being refreshed",
        "  APP    PHASE       NEXT        HELD BY   LAST                         DATA AGE",
        padded("> org.a  foreground  in 12 min             new data 2 min ago           2 min", 100),
        "  org.b  background  -           disabled  never                        -",
        "  org.c  background  refreshing            failed 3 h ago: exit code 3  3 h",
        "", "",
        "q quit  ? help  w why  r run  d disable  p pause  f background  / filter",
      ])
  }

  private func padded(_ text: String, _ width: Int) -> String { TextWidth.padded(text, to: width) }

  @Test func aNarrowTerminalShowsTheRestOfTheSelectedAppBelow() {
    var top = topOfThree()
    _ = top.press(.end)
    #expect(
      draw(top, width: 40, height: 12) == [
        "3 apps, 1 is being refreshed",
        "  APP    NEXT        HELD BY",
        "  org.a  in 12 min",
        "  org.b  -           disabled",
        padded("> org.c  refreshing", 40),
        "", "", "",
        "PHASE     background",
        "LAST      failed 3 h ago: exit code 3",
        "DATA AGE  3 h",
        "q quit  ? help  w why  r run  d disable",
      ])
  }

  @Test func aHoldTakesThePlaceOfTheNextRefreshWhereItsColumnDoesNotFit() {
    var top = TopState()
    top.show(.init(apps: [topApp("org.example.photo-album", verdict: .held, holds: ["network", "power", "quiet"])]))
    let rows = draw(top, width: 44, height: 12)
    #expect(rows[2] == padded("> org.example.photo-album  held: network, …", 44))
    #expect(rows.contains("HELD BY   network, power, quiet"))
  }

  @Test func anIDThatIsTooLongIsCutInTheTableAndWholeBelow() {
    let long = "org.example.a-name-that-nobody-would-give-to-an-app"
    var top = TopState()
    top.show(.init(apps: [topApp(long), topApp("org.example.mail")]))
    let rows = draw(top, width: 40, height: 14)
    #expect(rows[2].hasPrefix("> org…") && rows[2].contains("to-an-app  in 12 min"))
    #expect(rows.joined().contains(long))
  }

  /// Sizes that people have, and some that nobody should have.
  @Test(arguments: [1, 2, 5, 10, 20, 40, 60, 80, 200], [1, 2, 3, 4, 5, 8, 24, 60])
  func noRowIsWiderAndNoScreenHigherThanTheTerminal(width: Int, height: Int) {
    var top = topOfThree()
    let more = (0..<30).map { topApp("net.写真.app\($0)", verdict: .held, holds: ["network", "power"]) }
    top.show(.init(apps: (top.list?.apps ?? []) + more))
    top.say("cannot do this for org.a: not allowed. Ask as anna, as root or as a member of the group refreshd.", .bad)
    var pages = [top]
    _ = top.press(.end)
    top.link = .lost
    pages.append(top)
    top.page = .help
    pages.append(top)
    top.page = .why("org.example.todo", explanation(isRunning: true))
    pages.append(top)
    _ = top.press(.escape)
    _ = top.press(.character("/"))
    _ = top.press(.character("写"))
    pages.append(top)
    for page in pages {
      for hasColours in [false, true] {
        let rows = draw(page, width: width, height: height, hasColours: hasColours)
        #expect(rows.count == height)
        for row in rows where width > 1 { #expect(TextWidth.of(row) <= width, "\(row)") }
      }
    }
  }

  @Test func theSelectedRowIsAlwaysShown() {
    var top = TopState()
    top.show(.init(apps: (100..<150).map { topApp("org.app\($0)") }))
    for height in 2...30 {
      for key in [TopKey.home, .pageDown, .down, .pageDown, .end] {
        _ = top.press(key)
        let rows = draw(top, width: 80, height: height)
        #expect(rows.contains { $0.hasPrefix("> \(top.selection ?? "-")") }, "\(height) lines")
        if height >= 4 { #expect(rows[0].contains("50 apps; ") && rows[0].hasSuffix(" are shown")) }
      }
    }
  }

  @Test func whatIsWrongStandsAboveTheRows() {
    var top = topOfThree()
    top.pause = Wire.PauseState(untilMicroseconds: noon + span(h: 12), untilAC: false)
    #expect(draw(top, width: 80, height: 20)[1] == "All apps are paused until tomorrow 00:00, in 12 h.")
    #expect(draw(top, width: 80, height: 20).last?.contains("p resume") == true)
    top.link = .silent
    #expect(draw(top, width: 80, height: 20)[1].hasPrefix("the daemon does not answer"))
    top.link = .lost
    #expect(draw(top, width: 80, height: 20)[1].hasPrefix("the daemon closed the connection; connecting again"))
  }

  @Test func nobodyIsLeftWithAnEmptyScreen() {
    var top = TopState()
    #expect(draw(top, width: 80, height: 5).contains("…"))
    top.show(.init(apps: [], hasAppsOfOthers: true))
    #expect(draw(top, width: 80, height: 8).joined(separator: " ").contains("You have no apps."))
    top = topOfThree()
    for key in "/mail" { _ = top.press(.character(key)) }
    let rows = draw(top, width: 80, height: 8)
    #expect(rows.contains("0 of 3 apps, 1 is being refreshed") && rows.contains("No id and no name contains mail."))
    #expect(rows.contains("filter: mail_"))
  }

  @Test func anExplanationIsScrolledToItsEndAndNoFurther() throws {
    var top = topOfThree()
    top.page = .why("org.example.todo", explanation())
    let base = screen(width: 80)
    let low = TopScreen(Screen(width: 80, hasColours: false, now: noon, calendar: base.calendar, height: 5))
    let most = low.mostScroll(of: top)
    let text = screen(width: 80).text(explanation())
    #expect(most == text.count - 4)
    #expect(low.rows(of: top).prefix(4) == text.prefix(4))
    top.scroll = most
    #expect(low.rows(of: top).prefix(4) == text.suffix(4))
  }

  @Test func aPaintedLineIsBrokenWithItsColour() {
    let painted = "ab\u{1B}[31mcdef\u{1B}[0mgh"
    #expect(
      screen().broken(painted, at: 4) == ["ab\u{1B}[31mcd\u{1B}[0m", "\u{1B}[31mef\u{1B}[0mgh"])
    #expect(screen().broken("写真アルバム", at: 5) == ["写真", "アル", "バム"])
    #expect(screen().broken("abc", at: 3) == ["abc"])
  }
}
