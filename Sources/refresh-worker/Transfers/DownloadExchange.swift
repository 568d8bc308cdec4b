import Glibc
import HTTP
import RefreshAPI

/// The exchanges of a download: sends requests, follows redirects, and writes responses to the part.
extension Download {
  /// Requests the missing bytes.
  func ask() throws(TaskFailure) {
    guard let part else { return }
    question.from = part.length
    question.validator = part.length > 0 ? version?.validator : nil
    if part.length == 0 { question.total = nil }
    if digest?.length != part.length { digest = part.length == 0 && assignment.sha256 != nil ? try SHA256() : nil }
    bytesAtAsking = part.length
    guard let first = WebAddress(assignment.url) else {
      throw TaskFailure(.failed, "cannot read the URL; give one of http or https")
    }
    try send(along: Redirects(from: first))
  }

  /// Follows a redirect.
  func follow(_ location: String) {
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
  func restart() {
    do throws(TaskFailure) {
      guard mayRestart else {
        throw TaskFailure(.retry(after: nil), "cannot complete the file: its server answers now so and now otherwise")
      }
      mayRestart = false
      try part?.truncate(to: 0)
      try ask()
    } catch {
      end(error)
    }
  }

  func cancelExchange() {
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
    // Where a file keeps no mark, only that report tells the part from a file of the user.
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
        .noSpace(needed: missing), "cannot write \(part.path): \(why): \(missing) bytes are to come, \(room) fit")
    }
  }

  func reportBegan(durable: Int64) {
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
    return .taken
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
      // The file may have changed on the server meanwhile.
      if failure == nil, !isOver, self.part === part, self.version == version { reportBegan(durable: bytes) }
    }
  }

  func receiveEnd(_ end: Exchange.End) {
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
