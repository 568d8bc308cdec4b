import RefreshAPI
import Testing

@testable import refreshctl

/// Quiet hours, 22:00 to 07:00 of the daemon's local time, for a reader in UTC.
@Suite struct QuietTests {
  private static func sentence(end: Int64, eastMinutes: Int?) -> String {
    screen().sentence(
      explanation(
        trigger: .interval,
        window: Wire.Window(earliestMicroseconds: noon + span(m: 53), latestMicroseconds: noon + span(m: 53)),
        next: nextHeld([("quiet", end)], start: end), eastMinutes: eastMinutes))
  }

  @Test(
    arguments: [
      (noon + span(h: 19), 0, "the end of its quiet hours (tomorrow 07:00)"),
      (noon + span(h: 19, m: 4), 0, "(07:00, for this app tomorrow 07:04: starts are spread over 5 min)"),
      (noon + span(h: 19), nil, "the end of its quiet hours (tomorrow 07:00)"),
      // A daemon that does not tell its zone: a distance of hours is no spread.
      (noon + span(h: 10), nil, "the end of its quiet hours (today 22:00)"),
      (noon + span(h: 10), 540, "(07:00 in the daemon's local time, today 22:00 here)"),
      (
        noon + span(h: 10, m: 2), 540,
        "(07:00 in the daemon's local time, for this app today 22:02: starts are spread over 5 min)"
      ),
      (noon + span(h: 24), -300, "(07:00 in the daemon's local time, tomorrow 12:00 here)"),
    ] as [(Int64, Int?, String)]) func `The end is the reader's, and the spread below five minutes`(
      end: Int64, east: Int?, words: String
    )
  {
    let sentence = Self.sentence(end: end, eastMinutes: east)
    #expect(sentence.contains(words), "\(sentence)")
  }

  @Test func `The hours of another zone are named as such`() {
    func quiet(_ east: Int?) -> String? {
      screen().text(explanation(eastMinutes: east)).first { $0.contains("22:00 to") }
    }
    #expect(quiet(0)?.hasSuffix("22:00 to 07:00") == true)
    #expect(quiet(nil)?.hasSuffix("22:00 to 07:00") == true)
    #expect(quiet(540)?.hasSuffix("22:00 to 07:00 in the daemon's local time") == true)
  }

  @Test func `The time line has them where the daemon has them`() {
    let quiet = Wire.QuietHours(fromMinutes: 1320, toMinutes: 420, eastMinutes: 540)
    #expect(screen().isQuiet(noon + span(h: 1), quiet))
    #expect(!screen().isQuiet(noon + span(h: 10), quiet))
  }
}
