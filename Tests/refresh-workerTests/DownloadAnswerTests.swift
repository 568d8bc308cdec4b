import HTTP
import Testing

@testable import refresh_worker

/// Classifies responses for a part that is empty or has the first 100 of 1000 bytes.
struct DownloadAnswerTests {
  private let whole = DownloadQuestion()
  private let rest = DownloadQuestion(from: 100, validator: .tag("\"a\""), total: 1000)

  private func judge(_ status: Int, _ fields: [(String, String)] = [], to question: DownloadQuestion) -> DownloadAnswer
  {
    DownloadAnswer(
      ResponseHead(status: status, fields: fields.map { (name: $0.0, value: $0.1) }), to: question, now: 0)
  }

  @Test func aPartThatFitsContinues() {
    #expect(judge(206, [("content-range", "bytes 100-999/1000")], to: rest) == .continues(total: 1000))
    #expect(
      judge(206, [("content-range", "bytes 100-199/1000"), ("etag", "\"a\"")], to: rest) == .continues(total: 1000))
  }

  @Test(arguments: [
    [("content-range", "bytes 0-999/1000")], [("content-range", "bytes 101-999/1000")],
    [("content-range", "bytes 100-1099/1100")], [("content-range", "bytes 100-999/*")],
    [("content-range", "bytes 100-999/1000"), ("etag", "\"b\"")],
    [("content-range", "bytes 100-999/1000"), ("etag", "W/\"a\"")], [("content-range", "bytes */1000")],
    [("content-range", "nonsense")], [], [("content-type", "multipart/byteranges; boundary=x")],
    [("content-range", "bytes 100-999/1000"), ("content-range", "bytes 0-999/1000")],
  ])
  func aPartThatDoesNotFitStartsAnew(fields: [(String, String)]) {
    #expect(judge(206, fields, to: rest) == .restarts)
  }

  @Test func aPartOfACompressedFileStartsAnew() {
    let fields = [("content-range", "bytes 100-999/1000"), ("etag", "\"a\"")]
    #expect(judge(206, fields + [("content-encoding", "gzip")], to: rest) == .restarts)
    #expect(judge(206, fields + [("content-encoding", "identity")], to: rest) == .continues(total: 1000))
  }

  @Test func aPartThatNobodyAskedForStartsAnew() {
    #expect(judge(206, [("content-range", "bytes 0-99/1000")], to: whole) == .restarts)
    #expect(judge(206, [("content-range", "bytes 0-999/1000")], to: whole) == .restarts)
  }

  @Test func aPartOfAnotherLengthThanTheAppSaysStartsAnew() {
    var question = rest
    question.total = nil
    question.expected = 900
    #expect(judge(206, [("content-range", "bytes 100-999/1000")], to: question) == .restarts)
  }

  @Test func theWholeBeginsAtZeroWhateverWasAsked() {
    #expect(judge(200, [("content-length", "1000")], to: whole) == .begins(total: 1000))
    #expect(judge(200, [("content-length", "50"), ("etag", "\"b\"")], to: rest) == .begins(total: 50))
    #expect(judge(200, to: rest) == .begins(total: nil))
    #expect(judge(200, [("content-length", "9"), ("transfer-encoding", "chunked")], to: rest) == .begins(total: nil))
  }

  @Test func aPageOfALoginNetworkCostsNothingThatIsThere() {
    var question = rest
    question.expected = 1000
    guard case .ends(let failure) = judge(200, [("content-length", "4711")], to: question) else {
      Issue.record("the page was taken for the file")
      return
    }
    #expect(failure.kind == .retry(after: nil))
  }

  @Test func aLengthThatIsWrongFromTheFirstIsWrongContent() {
    guard
      case .ends(let failure) = judge(200, [("content-length", "4711")], to: DownloadQuestion(expected: 1000))
    else {
      Issue.record("a file of another length was taken")
      return
    }
    #expect(failure.kind == .wrong)
  }

  @Test func nothingLeftIsTheWholeOnlyIfItIsTheSameFile() {
    var all = rest
    all.from = 1000
    #expect(judge(416, [("content-range", "bytes */1000")], to: all) == .isWhole)
    #expect(judge(416, [("content-range", "bytes */1000"), ("etag", "\"b\"")], to: all) == .restarts)
    #expect(judge(416, [("content-range", "bytes */1000")], to: rest) == .restarts)
    #expect(judge(416, [("content-range", "bytes */50")], to: rest) == .restarts)
    #expect(judge(416, to: all) == .restarts)
    all.expected = 1001
    #expect(judge(416, [("content-range", "bytes */1000")], to: all) == .restarts)
  }

  @Test(arguments: [408, 425, 429, 500, 502, 503, 504, 599])
  func isWorthAnotherTry(status: Int) {
    #expect(
      judge(status, [("retry-after", "7")], to: rest)
        == .ends(TaskFailure(.retry(after: .seconds(7)), "HTTP status \(status)")))
    #expect(judge(status, to: rest) == .ends(TaskFailure(.retry(after: nil), "HTTP status \(status)")))
  }

  @Test(arguments: [204, 300, 304, 400, 401, 403, 404, 410, 412, 451, 416])
  func hasFailed(status: Int) {
    guard case .ends(let failure) = judge(status, [("retry-after", "7")], to: whole) else {
      Issue.record("status \(status) was taken for a file")
      return
    }
    #expect(failure.kind == .failed)
    #expect(failure.message.hasPrefix("HTTP status \(status)"))
  }

  @Test func aBodyWithALengthEndsThere() {
    #expect(DownloadEnd(have: 1000, total: 1000, isExplicit: true, question: rest) == .isWhole)
    // A server may send less than the requested range (RFC 9110 section 15.3.7).
    #expect(DownloadEnd(have: 600, total: 1000, isExplicit: true, question: rest) == .lacksRest)
    #expect(DownloadEnd(have: 1001, total: 1000, isExplicit: true, question: rest) == .restarts)
  }

  @Test func aBodyWithoutALengthIsWholeIfItsEndCanBeTold() {
    #expect(DownloadEnd(have: 77, total: nil, isExplicit: true, question: whole) == .isWhole)
    let digest = DownloadQuestion(hasDigest: true)
    #expect(DownloadEnd(have: 77, total: nil, isExplicit: false, question: digest) == .isWhole)
    let length = DownloadQuestion(expected: 100)
    #expect(DownloadEnd(have: 77, total: nil, isExplicit: false, question: length) == .lacksRest)
    #expect(DownloadEnd(have: 100, total: nil, isExplicit: false, question: length) == .isWhole)
  }

  @Test func aPageInPiecesIsWorthAnotherTry() {
    let question = DownloadQuestion(expected: 100, hasDigest: true)
    for have: Int64 in [77, 101] {
      guard case .ends(let failure) = DownloadEnd(have: have, total: nil, isExplicit: true, question: question) else {
        Issue.record("\(have) bytes were taken for 100")
        continue
      }
      #expect(failure.kind == .wrong)
    }
    #expect(DownloadEnd(have: 100, total: nil, isExplicit: true, question: question) == .isWhole)
  }

  @Test func aBodyThatMayHaveBeenCutIsNoFile() {
    guard case .ends(let failure) = DownloadEnd(have: 77, total: nil, isExplicit: false, question: whole) else {
      Issue.record("a body that may have been cut was taken for the whole")
      return
    }
    #expect(failure.kind == .wrong)
    #expect(failure.message.contains("SHA-256"))
  }
}
