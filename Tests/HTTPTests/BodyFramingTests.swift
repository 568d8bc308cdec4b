import Testing

@testable import HTTP

/// Judges heads by what they say about the end of the body.
struct BodyFramingTests {
  private func head(_ status: Int, _ fields: [(String, String)]) -> ResponseHead {
    ResponseHead(status: status, fields: fields.map { (name: $0.0, value: $0.1) })
  }

  @Test(arguments: [
    (200, [("content-length", "5")]), (200, [("content-length", "5"), ("content-length", "5")]),
    (200, [("transfer-encoding", "gzip, chunked"), ("content-length", "x")]), (204, []), (304, []),
  ])
  func marksTheEnd(status: Int, fields: [(String, String)]) {
    #expect(head(status, fields).marksEnd)
    #expect(head(status, fields).flaw == nil)
  }

  @Test(arguments: [[], [("transfer-encoding", "chunked, gzip")], [("transfer-encoding", "identity")]])
  func marksNoEnd(fields: [(String, String)]) {
    #expect(!head(200, fields).marksEnd)
    #expect(head(200, fields).flaw == nil)
  }

  @Test(arguments: [
    ["5", "6"], ["5, 6"], ["0x5"], ["+5"], ["-5"], [""], ["5 5"], ["99999999999999999999"],
  ])
  func isNotBelieved(lengths: [String]) {
    #expect(head(200, lengths.map { ("content-length", $0) }).flaw != nil)
  }

  @Test func aHeadIsReadToItsEndAndNoFurther() {
    var reader = HeadReader()
    for line in ["HTTP/1.1 100 Continue\r\n", "\r\n", "HTTP/1.1 200 OK: fine\r\n", "Content-Length: 5\r\n"] {
      reader.read(line[...], mindsLength: true)
      #expect(!reader.isWhole)
    }
    reader.read("\r\n", mindsLength: true)
    reader.read("Content-Length: 6\r\n", mindsLength: true)
    #expect(reader.isWhole && reader.flaw == nil)
    #expect(reader.head == head(200, [("content-length", "5")]))
  }

  @Test func aHeadWithoutAnEndIsBounded() {
    var reader = HeadReader()
    for _ in 0..<300 {
      reader.read("HTTP/1.1 102 Processing\r\n", mindsLength: true)
      reader.read("X: \(String(repeating: "x", count: 1000))\r\n", mindsLength: true)
    }
    #expect(reader.flaw == HeadReader.tooLong)
  }
}
