import RefreshAPI
import Testing

@testable import refreshctl

/// The output of `timeline`, in characters and as a picture.
@Suite struct TimelineTests {
  private static let mail = TimelineAnswers.AppAnswers(
    app: "org.example.mail",
    timeline: .init(past: [
      Wire.Past(refresh: refresh(at: noon - span(h: 2))),
      Wire.Past(refresh: refresh(at: noon - span(h: 4), .noData)),
      Wire.Past(refresh: refresh(at: noon - span(h: 6), .failed, cause: Wire.Cause(kind: .exit, text: "exit code 3"))),
      Wire.Past(
        wait: Wire.Wait(
          sinceMicroseconds: noon - span(h: 9), untilMicroseconds: noon - span(h: 6), holds: ["network", "power"])),
    ]))
  private static let photos = TimelineAnswers.AppAnswers(
    app: "net.example.a-rather-long-name-of-an-app",
    timeline: .init(
      past: [], waiting: Wire.Waiting(sinceMicroseconds: noon - span(h: 3), holds: ["network"])))
  private static let todo = TimelineAnswers.AppAnswers(
    app: "org.example.todo",
    timeline: .init(
      past: [], running: Wire.Running(id: "1-2", trigger: .manual, startedMicroseconds: noon - span(s: 5))))

  private static func answers(_ apps: [TimelineAnswers.AppAnswers], leftOut: Int = 0) -> TimelineAnswers {
    let starts = [noon + span(m: 30), noon + span(h: 3)]
    return TimelineAnswers(
      sinceMicroseconds: noon - span(h: 12), apps: apps, leftOut: leftOut,
      forecast: .init(
        fromMicroseconds: noon, untilMicroseconds: noon + span(h: 12), isCut: false,
        wakes: starts.map { at in
          Wire.ForecastWake(
            window: Wire.Window(earliestMicroseconds: at, latestMicroseconds: at),
            starts: [Wire.ForecastStart(app: "org.example.mail", trigger: .interval)])
        },
        rest: [
          Wire.ForecastRest(
            app: "net.example.a-rather-long-name-of-an-app", holds: [Wire.Hold(name: "network", remedy: "wait")]),
          Wire.ForecastRest(app: "org.example.todo", dueMicroseconds: noon + span(d: 1), holds: []),
        ]))
  }

  private static let all = Timeline(answers([mail, photos, todo]), on: screen())

  @Test func aRowIsAnAppAndNowIsInTheMiddle() {
    #expect(
      screen(width: 80).text(Self.all) == [
        "3 apps: 3 refreshes in the last 12 h, 1 failed; 2 planned in the next 12 h.",
        "",
        "                          Sat 21        08:00    now     16:00   20:00",
        "                          ┬───────┬───────┬───────┼┬───────┬───────┬──────┬",
        "org.example.mail          ······━━━━━━×···○···●···│·◇····◇·················",
        "…her-long-name-of-an-app  ··················━━━━━━│·held: network··········",
        "org.example.todo          ·······················▶│························",
        "",
        "▶ refreshing   × failed   ● new data   ○ no data   ◇ planned   ━ waiting   │ now",
        "Each column is 30 min; a sign may stand for several of its kind.",
      ])
  }

  @Test func namesOpeningsQuietHoursAndTheForegroundAreDrawn() {
    let why = explanation(
      pushes: [
        Wire.PushWaiting(
          contentID: "42", urgency: .normal, arrivedMicroseconds: noon - span(h: 1), merged: 0, wait: "limit")
      ], phase: .foreground)
    let app = TimelineAnswers.AppAnswers(
      app: "org.example.todo", timeline: .init(past: []), why: why,
      openings: [
        Wire.OpeningSpan(sinceMicroseconds: noon - span(h: 3), isObserved: true),
        Wire.OpeningSpan(
          sinceMicroseconds: noon - span(h: 8), untilMicroseconds: noon - span(h: 6), isObserved: false),
        Wire.OpeningSpan(sinceMicroseconds: noon - span(h: 11), isObserved: false),
      ])
    let timeline = Timeline(Self.answers([app]), on: screen())
    let lines = screen(width: 80).text(timeline)
    // Quiet from 22:00 to 07:00; opened at 01:00, 04:00 and 09:00, where nobody saw the end of the first; a push since 11:00.
    let row = lines.first { $0.hasPrefix("Todo  ") } ?? ""
    for sign in ["▒", "▲", "═", "◆"] { #expect(row.contains(sign), "\(sign): \(row)") }
    for word in ["▒ quiet hours", "═ in the foreground", "▲ opened", "◆ push waits"] {
      #expect(lines.contains { $0.contains(word) }, "\(word)")
    }
    let picture = TimelinePicture(timeline, screen()).text
    for tooltip in [
      "today 09:00: 3 h in the foreground", "today 04:00: opened", "today 04:00: 2 h in the foreground",
      "today 11:00: push waits (content 42)",
      "today 01:00: opened", "today 00:00: 7 h quiet hours", "today 22:00: 2 h quiet hours",
    ] {
      #expect(picture.contains("<title>\(tooltip)</title>"), "\(tooltip)")
    }
  }

  @Test func marksAMinuteApartDoNotCoverEachOther() {
    let often = TimelineAnswers.AppAnswers(
      app: "org.example.mail",
      timeline: .init(past: (0..<60).map { Wire.Past(refresh: refresh(at: noon - span(h: 1, m: $0), .noData)) }))
    let picture = TimelinePicture(Timeline(Self.answers([often]), on: screen()), screen()).text
    // An hour has 35 points of the picture, so three marks beside each other, and one in the legend.
    #expect((4...5).contains(picture.split(separator: "class=\"no-data\"").count - 1))
    #expect(picture.contains("times no data</title>"))
  }

  @Test func aNarrowScreenGivesLongerColumnsAndNoLineIsLonger() {
    for width in [40, 60, 80, 132, 200] {
      let lines = screen(width: width).text(Self.all)
      for line in lines { #expect(TextWidth.of(line) <= width, "\(line)") }
    }
    #expect(screen(width: 200).text(Self.all).last?.hasPrefix("Each column is 10 min;") == true)
    #expect(screen(width: 60).text(Self.all).contains { $0.hasPrefix("Each column is 1 h;") })
  }

  @Test func coloursAreOnlyAdded() {
    let plain = screen(width: 80).text(Self.all)
    let painted = screen(width: 80, hasColours: true).text(Self.all)
    #expect(painted != plain)
    #expect(painted.map { $0.replacing(/\u{1B}\[[0-9]*m/, with: "") } == plain)
  }

  @Test func appsThatAreLeftOutAreCounted() {
    let timeline = Timeline(Self.answers([Self.mail], leftOut: 7), on: screen())
    #expect(timeline.sentence.hasSuffix("7 apps more: run `refreshctl timeline APP` to see one."))
  }

  @Test func eachMarkOfAPictureHasATooltip() {
    let picture = TimelinePicture(Self.all, screen()).text
    for tooltip in [
      "today 10:00: new data (interval, 1.8 s)", "today 08:00: no data (interval, 1.8 s)",
      "today 06:00: failed (interval, 1.8 s: exit code 3)", "today 03:00: waited 3 h, held: network, power",
      "today 11:59:55: refreshing (manual)", "today 12:30: planned (interval)", "today 15:00: planned (interval)",
      "net.example.a-rather-long-name-of-an-app",
    ] {
      #expect(picture.contains("<title>\(tooltip)</title>"), "\(tooltip)")
    }
    #expect(picture.contains(">held: network</text>"))
    #expect(picture.contains("<desc id=\"description\">3 apps: 3 refreshes in the last 12 h"))
    #expect(picture.contains("prefers-color-scheme:dark"))
  }

  @Test func marksAtOnePositionAreOneMarkWithTheirNumber() {
    let close = TimelineAnswers.AppAnswers(
      app: "org.example.mail",
      timeline: .init(past: (0..<5).map { Wire.Past(refresh: refresh(at: noon - span(h: 1, s: 10 * $0), .noData)) }))
    let picture = TimelinePicture(Timeline(Self.answers([close]), on: screen()), screen()).text
    #expect(picture.contains("<title>today 10:59 to today 11:00: 5 times no data</title>"))
    #expect(picture.split(separator: "class=\"no-data\"").count == 3)
  }

  @Test func textOfAnotherProgramCannotBreakThePicture() {
    let odd = refresh(at: noon - span(h: 1), .failed, cause: Wire.Cause(kind: .reported, text: "<b>&\u{1B}[31m</b>"))
    let app = TimelineAnswers.AppAnswers(app: "org.example.mail", timeline: .init(past: [Wire.Past(refresh: odd)]))
    let picture = TimelinePicture(Timeline(Self.answers([app]), on: screen()), screen()).text
    #expect(picture.contains("&lt;b&gt;&amp;\u{FFFD}[31m&lt;/b&gt;"))
  }

  @Test(arguments: [
    (span(h: 7), ["16:00", "Sun 22", "08:00", "16:00", "Mon 23"]),
    (span(h: 6), ["18:00", "Sun 22", "06:00", "12:00", "18:00", "Mon 23"]),
    (span(h: 30), ["Mon 23"]),
  ])
  func ticksAreOnRoundTimes(distance: Int64, texts: [String]) {
    let axis = TimeAxis(from: noon + span(m: 1), until: noon + span(h: 36), distance: distance, on: screen())
    #expect(axis.ticks.map(\.text) == texts)
  }
}
