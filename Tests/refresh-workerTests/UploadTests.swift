import RefreshAPI
import Testing

@testable import refresh_worker

/// What the daemon is told of a POST, which must not be sent again once it may have arrived.
struct UploadTests {
  @Test(arguments: ["some text", ""])
  func aPostWaitsUntilTheDaemonKnowsThatItMayArrive(text: String) throws {
    let place = try ScriptedPlace(file: text)
    let upload = place.upload("POST")
    upload.start()
    let told = try place.nextCall()
    #expect(told.map(\.kind) == [.began] && told[0].resume?.url != nil)
    #expect(upload.progress.bytes == 0)
    try place.answer()
    // From now on only the server can say what became of it.
    upload.stop(discarding: false)
    #expect(place.end == nil)
  }

  @Test(arguments: ["some text", ""])
  func aPostThatIsStoppedWhileTheDaemonIsToldMayBeSentAgain(text: String) throws {
    let place = try ScriptedPlace(file: text)
    let upload = place.upload("POST")
    upload.start()
    _ = try place.nextCall()
    upload.stop(discarding: false)
    #expect(place.end == .stopped)
    try place.answer()
    let told = try place.nextCall()
    #expect(told.map(\.kind) == [.began, .ended])
    #expect(told[0].resume != nil && told[0].resume?.url == nil)
  }

  @Test func aPutWaitsForNobody() throws {
    let place = try ScriptedPlace(file: "some text")
    let upload = place.upload("PUT")
    upload.start()
    for _ in 0..<1000 where upload.progress.bytes == 0 { _ = place.loop.turn(watching: [], timeout: .milliseconds(10)) }
    #expect(upload.progress.bytes == 9 && place.reports.isEmpty)
    upload.stop(discarding: false)
    #expect(try place.nextCall().map(\.end) == [.stopped])
  }
}
