import Testing

@testable import HTTP

/// Parses status lines and header fields.
struct ResponseHeadTests {
  @Test(arguments: [
    ("HTTP/1.1 200 OK\r\n", 200), ("HTTP/1.1 404\r\n", 404), ("HTTP/2 304 \r\n", 304), ("HTTP/1.0 503 Try later", 503),
    ("HTTP/1.1 20 OK", nil), ("HTTP/1.1 2000 OK", nil), ("HTTP/1.1", nil), ("ICY 200 OK", nil), ("", nil),
  ])
  func statusLine(line: String, status: Int?) {
    #expect(ResponseHead(statusLine: line[...])?.status == status)
  }

  @Test func namesHaveNoCaseAndValuesNoSpaceAround() {
    var head = ResponseHead(status: 200)
    head.append(line: "ETag:  \"a b\" \r\n")
    head.append(line: "no field\r\n")
    #expect(head["etag"] == "\"a b\"")
    #expect(head.fields.count == 1)
  }

  @Test func aFieldWithTwoValuesHasNone() {
    let head = ResponseHead(
      status: 200, fields: [("content-length", "5"), ("content-length", "6"), ("age", "1"), ("age", "1")])
    #expect(head["content-length"] == nil)
    #expect(head["age"] == "1")
  }

  @Test func membersOfAListComeFromAllItsLines() {
    let head = ResponseHead(
      status: 200, fields: [("cache-control", "no-cache, max-age=5,"), ("cache-control", "public")])
    #expect(head.list("cache-control") == ["no-cache", "max-age=5", "public"])
  }
}
