import RefreshAPI
import Testing

@testable import refresh_worker

/// Holds the order of reports and writes of a download.
struct DownloadTests {
  @Test func noByteCountsBeforeTheDaemonKnowsOfThisVersion() throws {
    let host = try ScriptedHost(file: "what was there")
    let download = host.download(try begun(in: host))
    download.start()
    // The first report is about the part, which is from an earlier boot.
    #expect(try host.nextCall().map(\.resume?.etag) == ["\"a\""])
    try host.answer("HTTP/1.1 200 OK\r\nETag: \"b\"\r\nContent-Length: 4\r\n\r\nabcd")
    host.go(until: { download.version?.etag == "\"b\"" })
    // The reply to the report of version a does not confirm version b.
    try host.answer()
    host.go(turns: 20)
    #expect(download.progress.bytes == 0 && host.end == nil)
    #expect(try host.nextCall().map(\.resume?.etag) == ["\"b\""])
    try host.answer()
    host.go(until: { host.end != nil })
    #expect(host.end == .done)
    #expect(host.scratch.text(of: "file") == "abcd")
  }

  /// Makes a part of four bytes and returns the daemon's resume data.
  private func begun(in host: ScriptedHost) throws -> Wire.Resume {
    let part = try PartFile(in: try host.folder(host.scratch.path), for: "file")
    try part.append("0123")
    return Wire.Resume(etag: "\"a\"", total: 8, durable: 4, boot: "another", partMark: part.mark)
  }
}
