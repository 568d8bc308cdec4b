import RefreshAPI
import Testing

@testable import refresh_worker

/// A POST reports to the daemon before its last bytes, because it must not be sent twice.
struct UploadTests {
  @Test(arguments: ["some text", ""])
  func aPostWaitsUntilTheDaemonKnowsThatItMayArrive(text: String) throws {
    let host = try ScriptedHost(file: text)
    let upload = host.upload("POST")
    upload.start()
    let reports = try host.nextCall()
    #expect(reports.map(\.kind) == [.began] && reports[0].resume?.url != nil)
    #expect(upload.progress.bytes == 0)
    try host.answer()
    // From now on the request may arrive, so a stop must wait for the response.
    upload.stop(discarding: false)
    #expect(host.end == nil)
  }

  @Test(arguments: ["some text", ""])
  func aPostThatIsStoppedWhileTheDaemonIsToldMayBeSentAgain(text: String) throws {
    let host = try ScriptedHost(file: text)
    let upload = host.upload("POST")
    upload.start()
    _ = try host.nextCall()
    upload.stop(discarding: false)
    #expect(host.end == .stopped)
    try host.answer()
    let reports = try host.nextCall()
    #expect(reports.map(\.kind) == [.began, .ended])
    #expect(reports[0].resume != nil && reports[0].resume?.url == nil)
  }

  @Test func aPutWaitsForNobody() throws {
    let host = try ScriptedHost(file: "some text")
    let upload = host.upload("PUT")
    upload.start()
    for _ in 0..<1000 where upload.progress.bytes == 0 { _ = host.loop.turn(watching: [], timeout: .milliseconds(10)) }
    #expect(upload.progress.bytes == 9 && host.reports.isEmpty)
    upload.stop(discarding: false)
    #expect(try host.nextCall().map(\.end) == [.stopped])
  }
}
