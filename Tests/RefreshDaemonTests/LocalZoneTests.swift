import Glibc
import RefreshEngine
import Testing

@testable import RefreshDaemon

/// Serialized, because the tests set the environment of the process.
@Suite(.serialized) struct LocalZoneTests {
  /// 2026-11-21 12:00 UTC, microseconds of Unix time.
  private static let now: Int64 = 1_795_262_400_000_000

  private func zone(_ name: String) -> Zone {
    let before = getenv("TZ").map { String(cString: $0) }
    setenv("TZ", name, 1)
    defer {
      if let before { setenv("TZ", before, 1) } else { unsetenv("TZ") }
      tzset()
    }
    return LocalZone.zone(around: Self.now)
  }

  @Test func theChangesOfAYearBeforeAndAfterAreExact() {
    #expect(
      zone("Europe/Berlin")
        == Zone(
          offset: 7200,
          changes: [
            // The last Sundays of October and March, 01:00 UTC.
            Zone.Change(at: 1_761_440_400_000_000, offset: 3600),
            Zone.Change(at: 1_774_746_000_000_000, offset: 7200),
            Zone.Change(at: 1_792_890_000_000_000, offset: 3600),
            Zone.Change(at: 1_806_195_600_000_000, offset: 7200),
            Zone.Change(at: 1_824_944_400_000_000, offset: 3600),
          ]))
  }

  @Test(arguments: [("UTC", 0), ("Asia/Kolkata", 19_800), ("America/Phoenix", -25_200), ("EST5", -18_000)])
  func aZoneWithoutChangesHasNone(name: String, offset: Int32) {
    #expect(zone(name) == Zone(offset: offset))
  }

  @Test func halfAnHourIsAChangeToo() {
    #expect(Set(zone("Australia/Lord_Howe").changes.map(\.offset)) == [37_800, 39_600])
  }

  @Test func rulesInTheVariableCount() {
    #expect(Set(zone("CET-1CEST,M3.5.0,M10.5.0/3").changes.map(\.offset)) == [3600, 7200])
  }
}
