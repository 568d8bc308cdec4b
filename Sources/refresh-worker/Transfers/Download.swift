import Glibc
import HTTP
import RefreshAPI

/// A download of one file to its target.
///
/// ``DownloadAnswer`` and ``DownloadEnd`` classify the responses. `DownloadExchange.swift` sends requests and writes the
/// part, and `DownloadCompletion.swift` verifies the file and replaces the target.
final class Download: Transfer {
  let id: Int64
  let assignment: Wire.Assignment
  unowned let host: any TransferHost
  var part: PartFile?
  var question: DownloadQuestion
  var version: PartVersion?
  var exchange: Exchange?
  var redirects: Redirects?
  /// The meaning of the response that is being received.
  var answer: DownloadAnswer?
  /// The digest of all bytes so far; nil if some of them came in an earlier exchange.
  var digest: SHA256?
  var checkpoint = Checkpoint()
  private var share: Int64?
  /// How many reports of the version were sent.
  var reportsSent = 0
  /// The number of the report that the daemon must save before a byte is written, because it knows another version.
  var awaitedReport: Int?
  var mayRestart = true
  var isReplacing = false
  /// The stop that was ordered while the target was being replaced; it counts only if that fails.
  var pendingStop: Stop?
  var isOver = false
  var bytesAtAsking: Int64 = 0

  /// The kinds of stop: keep or discard the part.
  enum Stop {
    case keeping
    case discarding
  }

  init(id: Int64, _ assignment: Wire.Assignment, in host: any TransferHost) {
    self.id = id
    self.assignment = assignment
    self.host = host
    question = DownloadQuestion(expected: assignment.length, hasDigest: assignment.sha256 != nil)
  }

  var progress: (bytes: Int64, total: Int64?) { (part?.length ?? 0, version?.total ?? assignment.length) }

  func start() {
    do throws(TaskFailure) {
      let (path, name) = try Folder.split(assignment.path)
      let folder = try folder(path)
      if let completed = CompletedFile(in: folder, named: name, of: assignment.resume) { return confirm(completed) }
      try fetch(name, into: folder)
    } catch {
      end(error)
    }
  }

  /// Opens the folder of the target.
  ///
  /// A folder that once had the part and is missing may return, for example on a disk that is not mounted yet.
  private func folder(_ path: String) throws(TaskFailure) -> Folder {
    do throws(TaskFailure) { return try host.folder(path) } catch {
      guard assignment.resume?.partMark != nil, access(path, F_OK) != 0, errno == ENOENT else { throw error }
      throw TaskFailure(.retry(after: nil), error.message)
    }
  }

  /// Opens the part and requests the missing bytes.
  func fetch(_ name: String, into folder: Folder) throws(TaskFailure) {
    let part = try PartFile(in: folder, for: name, marked: assignment.resume?.partMark)
    self.part = part
    if let resume = assignment.resume { try keepReliableBytes(of: part, resume) }
    if part.length > 0, part.length == question.total { return put(part) }
    try ask()
  }

  func stop(discarding: Bool) {
    guard !isOver else { return }
    let stop: Stop = discarding ? .discarding : .keeping
    guard !isReplacing else {
      pendingStop = stop
      return
    }
    cancelExchange()
    end(stop)
  }

  func limit(to share: Int64?) {
    self.share = share
    exchange?.limit(to: rate)
  }

  func sync() {
    guard let part, !isReplacing else { return }
    fdatasync(part.descriptor)
  }

  var rate: Int64? { [share, assignment.maxRate].compactMap(\.self).min() }

  // MARK: Resuming

  private func keepReliableBytes(of part: PartFile, _ resume: Wire.Resume) throws(TaskFailure) {
    let version = PartVersion(resume)
    let kept = resume.kept(of: part, boot: host.boot)
    let isWhole = kept == version.total
    try part.truncate(to: version.validator != nil || isWhole ? kept : 0)
    self.version = version
    question.total = version.total
    if part.length > 0, resume.boot != host.boot {
      // The report names this boot, from which on unsynced bytes are reliable too.
      reportBegan(durable: part.length)
    }
  }
}
