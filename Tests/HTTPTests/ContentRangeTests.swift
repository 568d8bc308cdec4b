import Testing

@testable import HTTP

/// Parses valid `Content-Range` fields and refuses others.
struct ContentRangeTests {
  @Test(arguments: [
    ("bytes 0-0/1", ContentRange.part(first: 0, last: 0, total: 1)),
    ("bytes 100-199/1000", .part(first: 100, last: 199, total: 1000)),
    ("Bytes 100-199/*", .part(first: 100, last: 199, total: nil)),
    ("bytes  5-9/10", .part(first: 5, last: 9, total: 10)),
    ("bytes */1000", .unsatisfied(total: 1000)), ("bytes */0", .unsatisfied(total: 0)),
    ("bytes 0-9223372036854775806/9223372036854775807", .part(first: 0, last: .max - 1, total: .max)),
  ])
  func isRead(text: String, range: ContentRange) {
    #expect(ContentRange(text) == range)
  }

  @Test(arguments: [
    "", "bytes", "bytes ", "bytes=0-9/10", "0-9/10", "items 0-9/10", "bytes 0-9", "bytes 0-9/", "bytes -9/10",
    "bytes 0-/10", "bytes 9-0/10", "bytes 0-10/10", "bytes 0-9/5", "bytes +0-9/10", "bytes 0-9/-10", "bytes 0-9/1 0",
    "bytes 0--9/10", "bytes 0-9/10/10", "bytes 0x0-9/10", "bytes */*", "bytes */", "bytes * /10", "bytes a-b/c",
    "bytes 0-9/10,bytes 20-29/30", "bytes 0-9/99999999999999999999", "bytes ٠-٩/١٠",
  ])
  func isNone(text: String) {
    #expect(ContentRange(text) == nil)
  }
}
