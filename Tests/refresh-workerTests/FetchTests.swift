import HTTP
import JSON
import RefreshAPI
import Testing

@testable import refresh_worker

@Suite("A conditional GET") struct FetchTests {
  typealias Remembered = Wire.FetchOrder.Remembered

  static func head(_ status: Int, _ fields: (String, String)...) -> ResponseHead {
    ResponseHead(status: status, fields: fields.map { (name: $0.0, value: $0.1) })
  }

  @Test(
    "the status says what the answer means",
    arguments: [
      (200, FetchAnswer.content), (203, .content), (204, .same), (304, .same), (301, .elsewhere("/b")),
      (302, .elsewhere("/b")), (303, .elsewhere("/b")), (307, .elsewhere("/b")), (308, .elsewhere("/b")),
      (408, .none(isTemporary: true)), (425, .none(isTemporary: true)), (429, .none(isTemporary: true)),
      (500, .none(isTemporary: true)), (503, .none(isTemporary: true)), (599, .none(isTemporary: true)),
      (206, .none(isTemporary: false)), (300, .none(isTemporary: false)), (401, .none(isTemporary: false)),
      (404, .none(isTemporary: false)), (410, .none(isTemporary: false)), (416, .none(isTemporary: false)),
    ])
  func meaning(status: Int, answer: FetchAnswer) {
    #expect(FetchAnswer(Self.head(status, ("location", "/b"))) == answer)
  }

  @Test("a redirect to nowhere is a failure")
  func nowhere() {
    #expect(FetchAnswer(Self.head(302)) == .none(isTemporary: false))
  }

  @Test(
    "how long nothing will be new",
    arguments: [
      ([("cache-control", "max-age=60")], 60), ([("cache-control", "public, Max-Age=\"60\"")], 60),
      ([("cache-control", "private"), ("cache-control", "max-age=60")], 60),
      ([("cache-control", "max-age=60"), ("age", "20")], 40), ([("cache-control", "max-age=60"), ("age", "60")], nil),
      ([("cache-control", "max-age=60"), ("age", "99999999999999999999")], nil),
      ([("cache-control", "max-age=0")], nil), ([("cache-control", "max-age=-1")], nil),
      ([("cache-control", "max-age=soon")], nil), ([("cache-control", "s-maxage=60")], nil),
      ([("cache-control", "max-age=60, no-cache")], nil), ([("cache-control", "no-store, max-age=60")], nil),
      ([("cache-control", "max-age=99999999999999999999")], 86400),
      ([("cache-control", "max-age=2592000"), ("age", "86400")], 86400),
      ([("expires", "Wed, 21 Oct 2026 07:28:30 GMT"), ("date", "Wed, 21 Oct 2026 07:28:00 GMT")], 30),
      ([("expires", "Wed, 21 Oct 2026 07:28:00 GMT"), ("date", "Wed, 21 Oct 2026 07:28:30 GMT")], nil),
      ([("expires", "0"), ("date", "Wed, 21 Oct 2026 07:28:30 GMT")], nil),
      ([("expires", "Wed, 21 Oct 2026 07:28:30 GMT")], nil),
      (
        [
          ("cache-control", "max-age=60"), ("expires", "Wed, 21 Oct 2026 07:28:30 GMT"),
          ("date", "Wed, 21 Oct 2026 07:28:00 GMT"),
        ], 60
      ), ([], nil),
    ] as [([(String, String)], Int64?)])
  func freshness(fields: [(String, String)], seconds: Int64?) {
    let head = ResponseHead(status: 200, fields: fields.map { (name: $0.0, value: $0.1) })
    #expect(ResponseFreshness.remaining(of: head) == seconds.map { .seconds($0) })
  }

  @Test("changes only are asked for while what came last is there as it came")
  func conditions() {
    let here = FetchTarget.Content(digest: "aa")
    func conditions(_ remembered: Remembered?, _ content: FetchTarget.Content?, of url: String = "u") -> [String] {
      ConditionalFetch.conditions(remembered, content: content, of: url)
    }
    let both = Remembered(url: "u", etag: "W/\"1\"", lastModified: "Wed, 21 Oct 2026 07:28:00 GMT", digest: "aa")
    #expect(
      conditions(both, here) == ["If-None-Match: W/\"1\"", "If-Modified-Since: Wed, 21 Oct 2026 07:28:00 GMT"])
    #expect(conditions(Remembered(url: "u", etag: nil, lastModified: nil, digest: "aa"), here) == [])
    #expect(conditions(Remembered(url: "u", etag: "\"1\"", lastModified: nil, digest: "bb"), here) == [])
    #expect(conditions(Remembered(url: "u", etag: "\"1\"", lastModified: nil, digest: nil), here) == [])
    #expect(conditions(both, nil) == [])
    #expect(conditions(nil, here) == [])
    #expect(conditions(both, here, of: "another") == [])
    let unknown = Remembered(url: nil, etag: both.etag, lastModified: both.lastModified, digest: "aa")
    #expect(conditions(unknown, here) == [], "an earlier release did not note whose they are")
  }

  @Test("what is no encoding is none", arguments: ["identity", "none", "UTF-8", "aws-chunked", "aws-chunked, gzip"])
  func encodings(value: String) {
    #expect(Self.head(200, ("content-encoding", value)).encodings == (value.hasSuffix("gzip") ? ["gzip"] : []))
  }

  @Test("a failure is worth a retry where the server is at fault, and when it says")
  func failures() {
    let refused = Self.head(503, ("retry-after", "7"))
    let result = TaskResult(refusedBy: refused, isTemporary: true, at: 0)
    #expect((result.message, result.retryAfter, result.exitCode) == ("HTTP status 503", .seconds(7), 75))
    let gone = TaskResult(refusedBy: Self.head(404, ("retry-after", "7")), isTemporary: false, at: 0)
    #expect((gone.message, gone.retryAfter, gone.exitCode) == ("HTTP status 404", nil, 1))
    #expect(TaskResult(TaskFailure(.noSpace(needed: 1), "cannot write")).exitCode == 75)
  }

  @Test("an order is read as it was written, and nothing else is one")
  func order() throws {
    let order = Wire.FetchOrder(
      url: "https://u:p@h/ü?a", to: "/srv/x", headersFile: "/h", credentialFile: nil, netrc: true, mostBytes: 5,
      remembered: Remembered(url: "https://h/b", etag: "\"1\"", lastModified: nil, digest: "aa"))
    #expect(try Wire.FetchOrder(jsonText: Array(order.jsonText(.line).utf8)) == order)
    #expect(throws: JSONError.self) { try Wire.FetchOrder(jsonText: []) }
  }
}
