import RefreshAPI
import Testing

@testable import refresh_worker

/// What the daemon is told of a download, and when what comes counts.
struct DownloadTests {
  @Test func noByteCountsBeforeTheDaemonKnowsOfThisVersion() throws {
    let place = try ScriptedPlace(file: "what was there")
    let download = place.download(try begun(in: place))
    download.start()
    // The part is of an earlier boot.
    #expect(try place.nextCall().map(\.resume?.etag) == ["\"a\""])
    try place.answer("HTTP/1.1 200 OK\r\nETag: \"b\"\r\nContent-Length: 4\r\n\r\nabcd")
    place.go(until: { download.version?.etag == "\"b\"" })
    // That the daemon has saved the one version says nothing of the other.
    try place.answer()
    place.go(turns: 20)
    #expect(download.progress.bytes == 0 && place.end == nil)
    #expect(try place.nextCall().map(\.resume?.etag) == ["\"b\""])
    try place.answer()
    place.go(until: { place.end != nil })
    #expect(place.end == .done)
    #expect(place.scratch.text(of: "file") == "abcd")
  }

  /// Leaves a part of four bytes, and gives what the daemon knows of it.
  private func begun(in place: ScriptedPlace) throws -> Wire.Resume {
    let part = try PartFile(in: try place.folder(place.scratch.path), for: "file")
    try part.append("0123")
    return Wire.Resume(etag: "\"a\"", total: 8, durable: 4, boot: "another", partMark: part.mark)
  }
}
