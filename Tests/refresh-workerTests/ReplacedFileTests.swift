import Glibc
import RefreshAPI
import Testing

@testable import refresh_worker

/// A download replaces a plain file only, keeps its access, and puts the file where its path leads.
struct ReplacedFileTests {
  let scratch: ScratchFolder
  let folder: Folder

  init() throws {
    scratch = try ScratchFolder()
    folder = try Folder(path: scratch.path)
  }

  private func failure(_ body: () throws -> Void) -> TaskFailure? {
    do { try body() } catch { return error as? TaskFailure }
    return nil
  }

  private func makeSocket() {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: "\(scratch.path)/f".utf8) }
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    let size = socklen_t(MemoryLayout.size(ofValue: address))
    withUnsafeBytes(of: &address) { bytes in
      _ = bind(descriptor, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, size)
    }
  }

  private func makeSpecial(_ kind: String) {
    switch kind {
    case "a pipe": mkfifo("\(scratch.path)/f", 0o600)
    case "a socket": makeSocket()
    case "a link to a device": symlink("/dev/null", "\(scratch.path)/f")
    default: symlink(".", "\(scratch.path)/f")
    }
  }

  @Test(arguments: ["a pipe", "a socket", "a link to a device", "a link to a folder"])
  func whatIsNoPlainFileIsNotReplaced(kind: String) throws {
    makeSpecial(kind)
    let before = scratch.status(of: "f")?.st_ino
    let failure = failure { _ = try PartFile(in: folder, for: "f") }
    #expect(failure?.kind == .failed && failure?.message.contains("give another path") == true)
    #expect(scratch.status(of: "f.part") == nil && scratch.status(of: "f")?.st_ino == before)
  }

  @Test(arguments: ["a pipe", "a socket"])
  func whatHasComeMeanwhileAndIsNoPlainFileIsNotReplaced(kind: String) throws {
    let part = try PartFile(in: folder, for: "f")
    makeSpecial(kind)
    let failure = failure { try part.replaceTarget() }
    #expect(failure?.kind == .failed)
    #expect(scratch.status(of: "f").map { $0.st_mode & S_IFMT != S_IFREG } == true)
  }

  @Test(.enabled(if: geteuid() == 0)) func theGroupOfWhatIsReplacedIsKept() throws {
    try scratch.write("old", to: "f", mode: 0o640)
    chown("\(scratch.path)/f", .max, 4711)
    let part = try PartFile(in: folder, for: "f")
    #expect(scratch.status(of: "f.part")?.st_gid == 4711)
    try part.replaceTarget()
    #expect(scratch.status(of: "f").map { [$0.st_gid, $0.st_mode & 0o777] } == [4711, 0o640])
  }

  @Test(
    arguments: [(0o640, 0o600), (0o660, 0o600), (0o644, 0o644), (0o664, 0o644), (0o604, 0o604)] as [(mode_t, mode_t)])
  func anotherGroupGetsWhatEverybodyHas(kept: mode_t, given: mode_t) {
    #expect(ReplacedFile.forAnotherGroup(kept) == given)
  }

  @Test func aFinishedFileWithTheNameOfAPartIsLeftAlone() throws {
    let finished = try PartFile(in: folder, for: "f.part")
    try finished.append("precious")
    try finished.replaceTarget()
    for mark in [nil, 4711] as [Int64?] {
      let failure = failure { _ = try PartFile(in: folder, for: "f", marked: mark) }
      // The open file is locked, as by another process.
      #expect(failure != nil)
      #expect(scratch.text(of: "f.part") == "precious")
    }
  }

  @Test func aFinishedFileIsLeftAloneAfterItsWorkerToo() throws {
    func finish() throws {
      let finished = try PartFile(in: folder, for: "f.part")
      try finished.append("precious")
      try finished.replaceTarget()
    }
    try finish()
    for mark in [nil, 4711] as [Int64?] {
      let failure = failure { _ = try PartFile(in: folder, for: "f", marked: mark) }
      #expect(failure?.kind == .failed && failure?.message.contains("move it away") == true)
    }
    try PartFile.discard(in: folder, for: "f", marked: nil)
    #expect(scratch.text(of: "f.part") == "precious")
  }

  @Test func aFileIsNotPutIntoAFolderThatItsPathDoesNotLeadTo() throws {
    mkdir("\(scratch.path)/music", 0o700)
    let part = try PartFile(in: Folder(path: "\(scratch.path)/music"), for: "f")
    #expect(!part.folder.isSuperseded)
    rename("\(scratch.path)/music", "\(scratch.path)/old")
    #expect(failure { try part.replaceTarget() }?.kind == .retry(after: nil))
    // The path leads nowhere, so the folder may come back.
    #expect(!part.folder.isSuperseded)
    mkdir("\(scratch.path)/music", 0o700)
    #expect(failure { try part.replaceTarget() }?.kind == .retry(after: nil))
    #expect(part.folder.isSuperseded)
    #expect(scratch.status(of: "old/f") == nil && scratch.status(of: "music/f") == nil)
  }

  /// The folder /proc is on a file system without a size.
  @Test func aFileSystemWithoutASizeHasNoBoundThatItReports() throws {
    #expect(try Folder(path: "/proc").room == nil)
    #expect(try Folder(path: scratch.path).room != nil)
  }

  /// Whether the file of a name is marked as a part.
  private func isMarked(_ path: String) -> Bool {
    let descriptor = open(path, O_RDONLY)
    defer { close(descriptor) }
    return PartMark(of: descriptor) != nil
  }

  @Test func aFileLosesItsMarkOnceItsEndIsSaved() throws {
    let host = try ScriptedHost(file: "old")
    let download = host.download(nil)
    download.start()
    try host.answer("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabcd")
    host.go(until: { host.end != nil })
    let file = "\(host.scratch.path)/file"
    #expect(host.end == .done && isMarked(file))
    _ = try host.nextCall()
    #expect(isMarked(file), "after a crash now, the next worker knows the file by its mark")
    try host.answer()
    #expect(!isMarked(file))
  }

  @Test(arguments: [(true, Wire.ReportEnd.retry), (false, .failed)])
  func aFolderThatIsMissingMayComeBackIfItHadThePart(hasBegun: Bool, end: Wire.ReportEnd) throws {
    let host = try ScriptedHost(file: "old")
    let order = Wire.Assignment(
      direction: .download, url: "http://127.0.0.1:\(host.port)/", path: "\(host.scratch.path)/nas/file",
      stallMicroseconds: 60_000_000, resume: hasBegun ? Wire.Resume(durable: 4, boot: "this one", partMark: 1) : nil)
    Download(id: 1, order, in: host).start()
    #expect(host.end == end)
  }
}
