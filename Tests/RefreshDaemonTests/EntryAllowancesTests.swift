import Systemd
import Testing

@testable import RefreshDaemon

struct EntryAllowancesTests {
  static let second: Int64 = 1_000_000

  private func entry(_ text: String, of app: String? = "a.b", _ id: MessageID = .appPhaseChanged) -> JournalEntry {
    JournalEntry(text, messageID: id.rawValue, fields: app.map { [JournalEntry.Field("REFRESH_APP", $0)] } ?? [])
  }

  @Test func `A thousand entries about an app pass, then two notes say what was dropped`() {
    let allowances = EntryAllowances()
    for _ in 1...1000 { #expect(allowances.admitted(entry("now"), at: 0).map(\.message) == ["now"]) }
    #expect(
      allowances.admitted(entry("now"), at: 0).map(\.message) == [
        "a.b: further entries about it are dropped: an app may have 1000 lines or 1 MiB in 30 s"
      ])
    #expect(allowances.admitted(entry("now"), at: 0).isEmpty)
    #expect(
      allowances.admitted(entry("later"), at: 8 * Self.second).map(\.message) == [
        "a.b: 2 entries about it were dropped: an app may have 1000 lines or 1 MiB in 30 s", "later",
      ])
  }

  @Test func `Other apps, the daemon itself and the output of tasks have room of their own`() {
    let allowances = EntryAllowances()
    for _ in 1...2000 { _ = allowances.admitted(entry("now"), at: 0) }
    #expect(allowances.admitted(entry("now", of: "c.d"), at: 0).count == 1)
    #expect(allowances.admitted(entry("stopping", of: nil), at: 0).count == 1)
    #expect(allowances.admitted(entry("line", .taskOutput), at: 0).count == 1)
  }

  @Test func `Among many apps one that has dropped entries is remembered`() {
    let allowances = EntryAllowances()
    for _ in 1...2000 { _ = allowances.admitted(entry("now"), at: 0) }
    for number in 0..<200 { _ = allowances.admitted(entry("now", of: "c.d\(number)"), at: Int64(number) * Self.second) }
    #expect(allowances.admitted(entry("later"), at: 300 * Self.second).first?.message.contains("were dropped") == true)
  }
}
