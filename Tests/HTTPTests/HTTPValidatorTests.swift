import Testing

@testable import HTTP

/// Accepts reliable tags and dates as validators, and refuses others.
struct HTTPValidatorTests {
  static let date = "Sun, 06 Nov 1994 08:49:37 GMT"
  static let minuteBefore = "Sun, 06 Nov 1994 08:48:37 GMT"
  static let lessBefore = "Sun, 06 Nov 1994 08:48:38 GMT"

  private func head(_ fields: (String, String)...) -> ResponseHead {
    ResponseHead(status: 200, fields: fields.map { (name: $0.0, value: $0.1) })
  }

  @Test func aStrongTagIsTheBest() {
    let head = head(("etag", "\"a-1\""), ("last-modified", Self.minuteBefore), ("date", Self.date))
    #expect(HTTPValidator(head) == .tag("\"a-1\""))
  }

  @Test(arguments: ["W/\"a-1\"", "w/\"a\"", "range1000", "\"", "\"\"", "\"a b\"", "\"a\"b\"", ""])
  func whatIsNoStrongTagGivesWayToTheDate(tag: String) {
    #expect(
      HTTPValidator(head(("etag", tag), ("last-modified", Self.minuteBefore), ("date", Self.date)))
        == .date(Self.minuteBefore))
    #expect(HTTPValidator(head(("etag", tag))) == nil)
  }

  @Test func aDateCountsOnceItIsAMinuteOld() {
    #expect(HTTPValidator(head(("last-modified", Self.lessBefore), ("date", Self.date))) == nil)
    #expect(HTTPValidator(head(("last-modified", Self.minuteBefore))) == nil)
    #expect(HTTPValidator(head(("last-modified", "yesterday-ish"), ("date", Self.date))) == nil)
  }

  @Test func onlyAnotherOneContradictsIt() {
    let tag = HTTPValidator.tag("\"a\"")
    #expect(!tag.isContradicted(by: head()))
    #expect(!tag.isContradicted(by: head(("etag", "\"a\""))))
    #expect(tag.isContradicted(by: head(("etag", "W/\"a\""))))
    #expect(HTTPValidator.date(Self.date).isContradicted(by: head(("last-modified", Self.lessBefore))))
  }

  @Test(
    arguments: [
      ("120", Duration.seconds(120)), ("0", .seconds(0)), ("999999999", .seconds(86400)),
      ("99999999999999999999999", .seconds(86400)), (date, .seconds(60)), ("-5", nil), ("1.5", nil), ("soon", nil),
    ] as [(String, Duration?)])
  func retryAfterIsSecondsOrADate(text: String, after: Duration?) throws {
    // The date counts from the server's clock, not from this machine's.
    #expect(head(("retry-after", text), ("date", Self.minuteBefore)).retryAfter(now: 0) == after)
    let now = try #require(HTTPDate.seconds(Self.minuteBefore))
    #expect(head(("retry-after", text)).retryAfter(now: now) == after)
  }

  @Test func aDateThatIsOverMeansAtOnce() {
    #expect(head(("retry-after", Self.minuteBefore), ("date", Self.date)).retryAfter(now: 0) == .zero)
  }
}
