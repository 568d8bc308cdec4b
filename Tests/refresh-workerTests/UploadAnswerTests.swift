import HTTP
import Testing

@testable import refresh_worker

/// Classifies responses to PUT and POST.
struct UploadAnswerTests {
  private func judge(_ status: Int, _ method: HTTPRequest.Method) -> UploadAnswer {
    UploadAnswer(ResponseHead(status: status), to: method, now: 0)
  }

  private func kind(_ status: Int, _ method: HTTPRequest.Method) -> TaskFailure.Kind? {
    guard case .ends(let failure) = judge(status, method) else { return nil }
    return failure.kind
  }

  @Test(arguments: [200, 201, 202, 204, 303])
  func isAccepted(status: Int) {
    #expect(judge(status, .put) == .isAccepted)
    #expect(judge(status, .post) == .isAccepted)
  }

  @Test func onlyWhatKeepsTheMethodIsFollowed() {
    for status in [301, 302, 307, 308] { #expect(judge(status, .put) == .isElsewhere) }
    for status in [307, 308] { #expect(judge(status, .post) == .isElsewhere) }
    for status in [301, 302] { #expect(kind(status, .post) == .failed) }
  }

  @Test func aPutIsRepeatedAfterAnyTroubleOfTheServer() {
    for status in [408, 425, 429, 500, 502, 503, 504] { #expect(kind(status, .put) == .retry(after: nil)) }
  }

  @Test func aPostIsRepeatedOnlyIfTheServerDidNothingWithIt() {
    for status in [408, 425, 429, 503] { #expect(kind(status, .post) == .retry(after: nil)) }
    for status in [500, 502, 504] { #expect(kind(status, .post) == .failed) }
  }

  @Test(arguments: [400, 401, 403, 404, 409, 413, 415, 507 - 100])
  func isRefused(status: Int) {
    #expect(kind(status, .put) == .failed)
    #expect(kind(status, .post) == .failed)
  }
}

/// Classifies responses of a tus server.
struct TusAnswerTests {
  private func judge(
    _ status: Int, _ method: HTTPRequest.Method, _ fields: [(String, String)] = [("tus-resumable", "1.0.0")]
  ) -> TusAnswer {
    TusAnswer(ResponseHead(status: status, fields: fields.map { (name: $0.0, value: $0.1) }), to: method, now: 0)
  }

  private func kind(_ answer: TusAnswer) -> TaskFailure.Kind? {
    guard case .ends(let failure) = answer else { return nil }
    return failure.kind
  }

  @Test func aFileIsCreatedWhereTheServerSays() {
    #expect(judge(201, .post, [("location", "/files/1")]) == .isCreated("/files/1"))
    #expect(kind(judge(201, .post, [])) == .failed)
  }

  @Test func theServerSaysHowMuchItHas() {
    #expect(judge(200, .head, [("upload-offset", "70")]) == .has(70))
    #expect(judge(204, .patch, [("upload-offset", "100")]) == .has(100))
    #expect(kind(judge(200, .head, [("upload-offset", "-1")])) == .failed)
    #expect(kind(judge(204, .patch)) == .failed)
  }

  @Test func whatIsGoneIsCreatedAnewAndWhatDiffersAskedFor() {
    for status in [404, 410] {
      #expect(judge(status, .head) == .isGone)
      #expect(judge(status, .patch) == .isGone)
    }
    #expect(judge(403, .head) == .isGone)
    #expect(judge(409, .patch) == .differs)
    #expect(kind(judge(423, .patch)) == .retry(after: nil))
  }

  @Test(arguments: [200, 302, 404, 405, 501])
  func aServerWithoutTusIsNamed(status: Int) {
    guard case .ends(let failure) = judge(status, .post, []) else {
      Issue.record("status \(status) was taken for tus")
      return
    }
    #expect(failure.kind == .failed)
    #expect(failure.message.contains("leave out tus"))
  }

  @Test func troubleIsThatOfEveryServer() {
    for status in [401, 403, 413] { #expect(kind(judge(status, .post, [])) == .failed) }
    for status in [429, 500, 503] {
      #expect(kind(judge(status, .post)) == .retry(after: nil))
      #expect(kind(judge(status, .patch)) == .retry(after: nil))
    }
  }
}
