import Glibc
import HTTP
import RefreshAPI

/// A download of one file to its target.
///
/// ``DownloadAnswer`` and ``DownloadEnd`` classify the responses.
final class Download: Transfer {
  let id: Int64
  private let assignment: Wire.Assignment
  private unowned let host: any TransferHost
  private var part: PartFile?
  private var question: DownloadQuestion
  private(set) var version: PartVersion?
  private var exchange: Exchange?
  private var redirects: Redirects?
  /// The meaning of the response that is being received.
  private var answer: DownloadAnswer?
  /// The digest of all bytes so far; nil if some of them came in an earlier exchange.
  private var digest: SHA256?
  private var checkpoint = Checkpoint()
  private var share: Int64?
  /// How many reports of the version were sent.
  private var reportsSent = 0
  /// The number of the report that the daemon must save before a byte is written, because it knows another version.
  private var awaitedReport: Int?
  private var mayRestart = true
  private var isReplacing = false
  /// The stop that was ordered while the target was being replaced; it counts only if that fails.
  private var pendingStop: Stop?
  private var isOver = false
  private var bytesAtAsking: Int64 = 0

  /// The kinds of stop: keep or discard the part.
  private enum Stop {
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
  private func fetch(_ name: String, into folder: Folder) throws(TaskFailure) {
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

  private var rate: Int64? { [share, assignment.maxRate].compactMap(\.self).min() }

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

/// The exchanges of a download: sends requests, follows redirects, and writes responses to the part.
extension Download {
  /// Requests the missing bytes.
  private func ask() throws(TaskFailure) {
    guard let part else { return }
    question.from = part.length
    question.validator = part.length > 0 ? version?.validator : nil
    if part.length == 0 { question.total = nil }
    if digest?.length != part.length { digest = part.length == 0 && assignment.sha256 != nil ? try SHA256() : nil }
    bytesAtAsking = part.length
    guard let first = WebAddress(assignment.url) else {
      throw TaskFailure(.failed, "cannot read the URL; give an http or https URL")
    }
    try send(along: Redirects(from: first))
  }

  /// Follows a redirect.
  private func follow(_ location: String) {
    guard var redirects else { return }
    do throws(ExchangeFailure) { try redirects.follow(location) } catch { return end(TaskFailure(error)) }
    do throws(TaskFailure) { try send(along: redirects) } catch { end(error) }
  }

  private func send(along redirects: Redirects) throws(TaskFailure) {
    self.redirects = redirects
    answer = nil
    var request = try HTTPRequest(assignment, replacing: ["range", "if-range", "accept-encoding"])
    request.url = redirects.here.text
    if case .none = request.login { request.login = redirects.login }
    if !redirects.isAtFirstOrigin {
      request.headers = []
      request.login = .none
    }
    // A range of a compressed body cannot continue the file.
    request.headers.append("Accept-Encoding: identity")
    if let validator = question.validator {
      request.headers += ["Range: bytes=\(question.from)-", "If-Range: \(validator.text)"]
    }
    request.maxRate = rate
    let exchange = Exchange(request)
    exchange.onHead = { [unowned self] in receiveHead($0) }
    exchange.onBody = { [unowned self] in receiveBody($0) }
    exchange.onEnd = { [unowned self] in
      self.exchange = nil
      receiveEnd($0)
    }
    self.exchange = exchange
    try host.start(exchange)
  }

  /// Drops the bytes so far and requests the whole file; fails the second time.
  private func restart() {
    do throws(TaskFailure) {
      guard mayRestart else {
        throw TaskFailure(.retry(after: nil), "cannot complete the file: its server keeps changing its answer")
      }
      mayRestart = false
      try part?.truncate(to: 0)
      try ask()
    } catch {
      end(error)
    }
  }

  private func cancelExchange() {
    if let exchange { host.loop.cancel(exchange) }
    exchange = nil
  }

  // MARK: Responses

  private func receiveHead(_ head: ResponseHead) -> Bool {
    let url = redirects?.here.text
    var answer = DownloadAnswer(head, to: question, now: HTTPDate.now())
    if case .continues = answer, version?.mayContinue(from: url) == false { answer = .restarts }
    do throws(TaskFailure) {
      switch answer {
      case .begins(let total): try begin(PartVersion(head, url: url, total: total))
      case .continues(let total):
        // The first response may not have declared the length.
        question.total = total
        version?.total = total
        try makeSureOfRoom(for: total)
      case .isWhole, .restarts, .isElsewhere, .ends: break
      }
    } catch {
      answer = .ends(error)
    }
    self.answer = answer
    return switch answer {
    case .begins, .continues: true
    case .isWhole, .restarts, .isElsewhere, .ends: false
    }
  }

  private func begin(_ version: PartVersion) throws(TaskFailure) {
    let isKnownToDaemon = assignment.resume != nil || self.version != nil
    try part?.truncate(to: 0)
    self.version = version
    question = DownloadQuestion(total: version.total, expected: question.expected, hasDigest: question.hasDigest)
    bytesAtAsking = 0
    if assignment.sha256 != nil { digest = try SHA256() }
    try makeSureOfRoom(for: version.total)
    checkpoint = Checkpoint()
    // A small file is fetched again as fast as it would be resumed, so the daemon needs no report of its version.
    // If the file system keeps no marks, only that report distinguishes the part from a file of the user.
    let isUnmarked = part?.isMarked == false
    guard isKnownToDaemon || isUnmarked || version.total ?? .max > Checkpoint.least else { return }
    reportBegan(durable: 0)
    awaitedReport = isKnownToDaemon || isUnmarked ? reportsSent : nil
  }

  private func makeSureOfRoom(for total: Int64?) throws(TaskFailure) {
    guard let part, let missing = total.map({ $0 - part.length }), missing > 0 else { return }
    if let room = part.folder.room, room < missing {
      let why = String(cString: strerror(ENOSPC))
      throw TaskFailure(
        .noSpace(needed: missing), "cannot write \(part.path): \(why): \(missing) bytes are missing, \(room) fit")
    }
  }

  private func reportBegan(durable: Int64) {
    guard let part, let version else { return }
    let resume = version.resume(durable: durable, boot: host.boot, mark: part.mark)
    reportsSent += 1
    host.reports.add(
      Wire.TransferReport(id: id, kind: .began, resume: resume, bytes: part.length, total: version.total)
    ) { [weak self, reportsSent] in
      guard let self, awaitedReport == reportsSent else { return }
      awaitedReport = nil
      if let exchange { host.loop.resume(exchange) }
    }
  }

  private func receiveBody(_ bytes: UnsafeRawBufferPointer) -> Exchange.BodyUse {
    guard let part, awaitedReport == nil else { return .paused }
    let total = version?.total ?? assignment.length
    guard part.length + Int64(bytes.count) <= total ?? .max else {
      answer = .restarts
      return .ended
    }
    do throws(TaskFailure) {
      try part.append(bytes, needed: total.map { $0 - part.length })
    } catch {
      answer = .ends(total == nil ? withoutEnd(error) : error)
      return .ended
    }
    digest?.append(bytes)
    if checkpoint.isDue(at: part.length, now: .now) { makeDurable(part) }
    return .consumed
  }

  /// Drops a body of unknown length that filled the disk, because it may be endless, and asks for twice the room.
  private func withoutEnd(_ failure: TaskFailure) -> TaskFailure {
    guard case .noSpace = failure.kind, let part else { return failure }
    let needed = part.length * 2
    do throws(TaskFailure) {
      try part.truncate(to: 0)
    } catch {
      return error
    }
    return TaskFailure(.noSpace(needed: needed), failure.message)
  }

  private func makeDurable(_ part: PartFile) {
    let bytes = part.length
    let version = version
    checkpoint.begin()
    // The closure captures the part to keep its descriptor open.
    host.disk.run(.sync(descriptor: part.descriptor, path: part.path)) { [self, part] failure in
      checkpoint.end()
      // The file on the server may have changed since.
      if failure == nil, !isOver, self.part === part, self.version == version { reportBegan(durable: bytes) }
    }
  }

  private func receiveEnd(_ end: Exchange.End) {
    switch end {
    case .stopped: act(on: answer)
    case .failed(let failure, _):
      // A broken connection says nothing against what was asked for and judged.
      switch answer {
      case .ends, .isElsewhere: act(on: answer)
      default: self.end(TaskFailure(failure))
      }
    case .whole, .unmarked:
      switch answer {
      // The length is known.
      case .continues: judgeEnd(isExplicit: true)
      case .begins: if case .whole = end { judgeEnd(isExplicit: true) } else { judgeEnd(isExplicit: false) }
      default: act(on: answer)
      }
    }
  }

  private func act(on answer: DownloadAnswer?) {
    guard let part else { return }
    switch answer {
    case .isWhole: put(part)
    case .restarts: restart()
    case .isElsewhere(let location): follow(location)
    case .ends(let failure): end(failure)
    case .begins, .continues, nil:
      end(TaskFailure(.retry(after: nil), "cannot finish \(part.path): the answer ended before it began"))
    }
  }

  private func judgeEnd(isExplicit: Bool) {
    guard let part else { return }
    let total = version?.total ?? question.total
    switch DownloadEnd(have: part.length, total: total, isExplicit: isExplicit, question: question) {
    case .isWhole: put(part)
    case .restarts: restart()
    case .ends(let failure):
      part.remove()
      self.part = nil
      end(failure)
    case .lacksRest:
      guard part.length > bytesAtAsking, version?.validator != nil else {
        return end(TaskFailure(.retry(after: nil), "cannot finish \(part.path): the answer ended too early"))
      }
      do throws(TaskFailure) {
        try ask()
      } catch {
        end(error)
      }
    }
  }
}

/// The end of a download: verifies the file, replaces the target, and reports.
extension Download {
  /// Verifies the whole file, makes it durable and replaces the target.
  private func put(_ part: PartFile) {
    isReplacing = true
    let wanted = assignment.sha256?.lowercased()
    if let digest, let wanted, digest.finish() != wanted { return judgeReplacement(.otherDigest(part.path), of: part) }
    let replacement = Disk.Replacement(
      descriptor: part.descriptor, folder: part.folder.descriptor, name: part.name, path: part.path,
      length: part.length, digest: digest == nil ? wanted : nil)
    host.reports.add(Wire.TransferReport(id: id, kind: .fetched, bytes: part.length, total: part.length))
    host.disk.run(.replace(replacement)) { [self] in judgeReplacement($0, of: part) }
  }

  /// Ends with a target that an earlier worker replaced before its report; downloads the file again if it is wrong.
  private func confirm(_ completed: CompletedFile) {
    isReplacing = true
    let replacement = Disk.Replacement(
      descriptor: completed.descriptor, folder: completed.folder.descriptor, name: nil, path: assignment.path,
      length: completed.length, digest: assignment.sha256?.lowercased())
    // The closure captures the file to keep its descriptor open.
    host.disk.run(.replace(replacement)) { [self, completed] failure in
      guard failure != nil else {
        return reportDone(completed.length) { [completed] in PartMark.remove(from: completed.descriptor) }
      }
      isReplacing = false
      if let pendingStop { return end(pendingStop) }
      do throws(TaskFailure) {
        try fetch(completed.name, into: completed.folder)
      } catch {
        end(error)
      }
    }
  }

  /// Reports the end, and removes the mark of the file only then: after a crash the next worker knows the file by its mark.
  private func reportDone(_ length: Int64, removingMark: @escaping () -> Void) {
    over(
      Wire.TransferReport(
        id: id, kind: .ended, bytes: length, total: length, end: .done, sha256: assignment.sha256?.lowercased()),
      onSaved: removingMark)
  }

  private func judgeReplacement(_ failure: TaskFailure?, of part: PartFile) {
    guard let failure else { return reportDone(part.length) { [part] in PartMark.remove(from: part.descriptor) } }
    isReplacing = false
    let isWorthless = failure.kind == .failed || failure.kind == .wrong
    if let pendingStop { return end(isWorthless ? .discarding : pendingStop) }
    guard isWorthless else { return end(failure) }
    // A file that came in several exchanges may have been joined wrongly, so download it once as a whole.
    if failure.kind == .wrong, digest == nil, mayRestart { return restart() }
    part.remove()
    end(failure)
  }

  private func end(_ failure: TaskFailure) {
    let (bytes, total) = progress
    let isKept = failure.kind != .failed && failure.kind != .wrong
    // Nothing is known of a part that could not be opened.
    let known = isKept && part == nil ? nil : bytes
    let report = Wire.TransferReport(id: id, failure: failure, bytes: known, total: total)
    // The next try looks for nothing in a folder that its path does not lead to.
    if !isKept || bytes == 0 || part?.folder.isSuperseded == true { part?.remove() }
    endKeeping(report, isKept: isKept)
  }

  /// Ends by an order to stop.
  private func end(_ stop: Stop) {
    if stop == .discarding { part?.remove() }
    let bytes = stop == .discarding ? 0 : progress.bytes
    endKeeping(
      Wire.TransferReport(id: id, kind: .ended, bytes: bytes, total: progress.total, end: .stopped),
      isKept: stop == .keeping)
  }

  /// Ends once the kept bytes are durable, so that they survive a power loss before the next try.
  private func endKeeping(_ report: Wire.TransferReport, isKept: Bool) {
    guard isKept, let part, part.length > 0, version?.validator != nil else { return over(report) }
    isOver = true
    host.disk.run(.sync(descriptor: part.descriptor, path: part.path)) { [self] failure in
      if failure == nil { reportBegan(durable: part.length) }
      over(report)
    }
  }

  private func over(_ report: Wire.TransferReport, onSaved: @escaping () -> Void = {}) {
    isOver = true
    part = nil
    host.ended(self, report, onSaved: onSaved)
  }
}

/// Decides when a running download is synced to disk: after 32 MiB, but at most once a second, or after 10 s.
///
/// After a power loss only synced bytes count. More frequent syncs would load the disk without need.
private struct Checkpoint {
  /// A file of this size or less needs no checkpoint.
  static let least: Int64 = 128 << 10

  private var bytes: Int64 = 0
  private var bytesNow: Int64 = 0
  private var time = ContinuousClock.now
  private var isUnderWay = false

  /// Whether a checkpoint is due after this many bytes.
  mutating func isDue(at bytes: Int64, now: ContinuousClock.Instant) -> Bool {
    bytesNow = bytes
    guard !isUnderWay, bytes > self.bytes else { return false }
    let passed = time.duration(to: now)
    return passed >= .seconds(10) || (bytes - self.bytes >= 32 << 20 && passed >= .seconds(1))
  }

  mutating func begin() {
    isUnderWay = true
    bytes = bytesNow
    time = .now
  }

  mutating func end() { isUnderWay = false }
}
