import RefreshAPI
import RefreshEngine
import Testing

@testable import RefreshDaemon

/// The daemon bounds the numbers and texts of a report: a worker may repeat what a hostile server sent.
@Suite struct ReportTests {
  private static let huge = Int64(1) << 62

  @Test func noNumberIsMoreThanTheStoreReadsBack() {
    let most = ReportBounds.greatest
    let resume = Wire.Resume(total: .max, durable: Self.huge, boot: "b")
    let bounded = Wire.TransferReport(
      id: 1, kind: .ended, resume: resume, bytes: Self.huge, total: .max, end: .noSpace,
      retryAfterMicroseconds: .max, needed: Self.huge
    ).bounded
    #expect(
      [bounded.bytes, bounded.total, bounded.needed, bounded.retryAfterMicroseconds] == [most, most, most, most])
    #expect([bounded.resume?.total, bounded.resume?.durable] == [most, most])
    let least = Wire.TransferReport(id: 1, kind: .progress, bytes: .min, needed: -1).bounded
    #expect([least.bytes, least.needed] == [0, 0])
  }

  @Test func aTextThatIsTooLongIsLeftOut() {
    let long = String(repeating: "x", count: 10_000)
    let resume = Wire.Resume(
      url: long, etag: long, lastModified: long, date: long, durable: 7, boot: long, tusURL: long)
    let bounded = Wire.TransferReport(id: 1, kind: .began, resume: resume, sha256: long).bounded
    #expect(bounded.sha256 == nil)
    #expect(bounded.resume == Wire.Resume(durable: 7, boot: ""))
    let short = Wire.Resume(url: "http://a", etag: "\"e\"", durable: 7, boot: "b")
    #expect(Wire.TransferReport(id: 1, kind: .began, resume: short).bounded.resume == short)
  }

  @Test func noSumOfWhatIsClaimedOverflows() {
    let tally = Tally()
    for _ in 0..<20 { tally.note(moved: ReportBounds.greatest) }
    #expect(tally.moved == .max)
    var speed = KnownTransfers.Speed(bytes: 0, at: Instant(microseconds: 0))
    for turn in 1...4 {
      speed.note(turn % 2 == 0 ? 0 : ReportBounds.greatest, at: Instant(microseconds: Int64(turn) * 200_000))
    }
    #expect(speed.rate ?? 0 > 0)
  }
}
