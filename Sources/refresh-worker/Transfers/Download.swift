import Glibc
import HTTP
import RefreshAPI

/// One file on its way from a server to its place.
///
/// ``DownloadAnswer`` and ``DownloadEnd`` judge what comes; this and `DownloadEnding.swift` do what they say.
final class Download: Transfer {
  let id: Int64
  let assignment: Wire.Assignment
  unowned let place: any TransferPlace
  var part: PartFile?
  var question: DownloadQuestion
  var version: PartVersion?
  private var exchange: Exchange?
  private var redirects: Redirects?
  /// What the answer that is coming in means.
  var answer: DownloadAnswer?
  /// The digest of what is there, unless some of it came in an earlier exchange.
  var digest: SHA256?
  private var checkpoint = Checkpoint()
  private var share: Int64?
  /// How often the daemon was told what the bytes are of.
  private var timesTold = 0
  /// Which time it was that must be saved before a byte counts, because the daemon knows of another version.
  private var awaited: Int?
  var mayStartAnew = true
  var isPlacing = false
  /// The stop that was ordered while the file was being checked; it counts only if the file is not right.
  var lateStop: Stop?
  var isOver = false
  var bytesAtAsking: Int64 = 0

  /// What is to become of what is there when it is stopped.
  enum Stop {
    case keeping
    case discarding
  }

  init(id: Int64, _ assignment: Wire.Assignment, in place: any TransferPlace) {
    self.id = id
    self.assignment = assignment
    self.place = place
    question = DownloadQuestion(expected: assignment.length, hasDigest: assignment.sha256 != nil)
  }

  var progress: (bytes: Int64, total: Int64?) { (part?.length ?? 0, version?.total ?? assignment.length) }

  func start() {
    do throws(Trouble) {
      let (path, name) = try Folder.split(assignment.path)
      let folder = try place.folder(path)
      if let placed = PlacedFile(in: folder, named: name, of: assignment.resume) { return confirm(placed) }
      try fetch(name, into: folder)
    } catch {
      end(error)
    }
  }

  /// Has what is not there yet fetched.
  func fetch(_ name: String, into folder: Folder) throws(Trouble) {
    let part = try PartFile(in: folder, for: name, marked: assignment.resume?.partMark)
    self.part = part
    if let resume = assignment.resume { try takeUp(resume, of: part) }
    if part.length > 0, part.length == question.total { return put(part) }
    try ask()
  }

  func stop(discarding: Bool) {
    guard !isOver else { return }
    let stop: Stop = discarding ? .discarding : .keeping
    guard !isPlacing else {
      lateStop = stop
      return
    }
    cancelExchange()
    end(stop)
  }

  func limit(to share: Int64?) {
    self.share = share
    exchange?.limit(to: rate)
  }

  func keep() {
    guard let part, !isPlacing else { return }
    fdatasync(part.descriptor)
  }

  private var rate: Int64? { [share, assignment.maxRate].compactMap(\.self).min() }

  // MARK: Asking

  /// Goes on where it was, as far as that can be relied on.
  private func takeUp(_ resume: Wire.Resume, of part: PartFile) throws(Trouble) {
    let version = PartVersion(resume)
    let kept = resume.kept(of: part, boot: place.boot)
    let isWhole = kept == version.total
    try part.truncate(to: version.validator != nil || isWhole ? kept : 0)
    self.version = version
    question.total = version.total
    if part.length > 0, resume.boot != place.boot {
      // From now on what is written counts again, durable or not.
      tellBegan(durable: part.length)
    }
  }

  /// Asks for what is not there yet.
  func ask() throws(Trouble) {
    guard let part else { return }
    question.from = part.length
    question.validator = part.length > 0 ? version?.validator : nil
    if part.length == 0 { question.total = nil }
    if digest?.length != part.length { digest = part.length == 0 && assignment.sha256 != nil ? try SHA256() : nil }
    bytesAtAsking = part.length
    guard let first = WebAddress(assignment.url) else {
      throw Trouble(.failed, "cannot read the URL; give one of http or https")
    }
    try send(along: Redirects(from: first))
  }

  /// Goes on where a redirect leads.
  func follow(_ location: String) {
    guard var redirects else { return }
    do throws(ExchangeFailure) { try redirects.follow(location) } catch { return end(Trouble(error)) }
    do throws(Trouble) { try send(along: redirects) } catch { end(error) }
  }

  private func send(along redirects: Redirects) throws(Trouble) {
    self.redirects = redirects
    answer = nil
    var request = try HTTPRequest(assignment, replacing: ["range", "if-range", "accept-encoding"])
    request.url = redirects.here.text
    if case .none = request.login { request.login = redirects.login }
    if !redirects.isAtFirstOrigin {
      request.headers = []
      if case .password = request.login { request.login = .none }
    }
    // What is compressed on the way cannot be continued.
    request.headers.append("Accept-Encoding: identity")
    if let validator = question.validator {
      request.headers += ["Range: bytes=\(question.from)-", "If-Range: \(validator.text)"]
    }
    request.maxRate = rate
    let exchange = Exchange(request)
    exchange.onHead = { [unowned self] in takeHead($0) }
    exchange.onBody = { [unowned self] in takeBody($0) }
    exchange.onEnd = { [unowned self, unowned exchange] in
      self.exchange = nil
      takeEnd($0, isExplicit: exchange.endsAreExplicit)
    }
    self.exchange = exchange
    do throws(ExchangeFailure) {
      try place.loop.start(exchange)
    } catch {
      throw Trouble(error)
    }
  }

  /// Drops what is there and asks for the whole, once.
  func startAnew() {
    do throws(Trouble) {
      guard mayStartAnew else {
        throw Trouble(.retry(after: nil), "cannot complete the file: its server answers now so and now otherwise")
      }
      mayStartAnew = false
      try part?.truncate(to: 0)
      try ask()
    } catch {
      end(error)
    }
  }

  private func cancelExchange() {
    if let exchange { place.loop.cancel(exchange) }
    exchange = nil
  }

  // MARK: What comes

  private func takeHead(_ head: ResponseHead) -> Bool {
    let url = redirects?.here.text
    var answer = DownloadAnswer(head, to: question, now: HTTPDate.now())
    if case .continues = answer, version?.mayContinue(from: url) == false { answer = .startsAnew }
    do throws(Trouble) {
      switch answer {
      case .begins(let total): try begin(PartVersion(head, url: url, total: total))
      case .continues(let total):
        // The first answer may not have told it.
        question.total = total
        version?.total = total
        try makeSureOfRoom(for: total)
      case .isWhole, .startsAnew, .isElsewhere, .ends: break
      }
    } catch {
      answer = .ends(error)
    }
    self.answer = answer
    return switch answer {
    case .begins, .continues: true
    case .isWhole, .startsAnew, .isElsewhere, .ends: false
    }
  }

  private func begin(_ version: PartVersion) throws(Trouble) {
    let isKnownToDaemon = assignment.resume != nil || self.version != nil
    try part?.truncate(to: 0)
    self.version = version
    question = DownloadQuestion(total: version.total, expected: question.expected, hasDigest: question.hasDigest)
    bytesAtAsking = 0
    if assignment.sha256 != nil { digest = try SHA256() }
    try makeSureOfRoom(for: version.total)
    checkpoint = Checkpoint()
    // What is fetched in a moment is fetched again as fast as it would be continued.
    guard isKnownToDaemon || version.total ?? .max > Checkpoint.least else { return }
    tellBegan(durable: 0)
    awaited = isKnownToDaemon ? timesTold : nil
  }

  private func makeSureOfRoom(for total: Int64?) throws(Trouble) {
    guard let part, let missing = total.map({ $0 - part.length }), missing > 0 else { return }
    if let room = part.folder.room, room < missing {
      let why = String(cString: strerror(ENOSPC))
      throw Trouble(
        .noSpace(needed: missing), "cannot write \(part.path): \(why): \(missing) bytes are to come, \(room) fit")
    }
  }

  func tellBegan(durable: Int64) {
    guard let part, let version else { return }
    let resume = version.resume(durable: durable, boot: place.boot, mark: part.mark)
    timesTold += 1
    place.reports.add(
      Wire.TransferReport(id: id, kind: .began, resume: resume, bytes: part.length, total: version.total)
    ) { [weak self, timesTold] in
      guard let self, awaited == timesTold else { return }
      awaited = nil
      if let exchange { place.loop.resume(exchange) }
    }
  }

  private func takeBody(_ bytes: UnsafeRawBufferPointer) -> Exchange.Use {
    guard let part, awaited == nil else { return .paused }
    let total = version?.total ?? assignment.length
    guard part.length + Int64(bytes.count) <= total ?? .max else {
      answer = .startsAnew
      return .ended
    }
    do throws(Trouble) {
      try part.append(bytes, needed: total.map { $0 - part.length })
    } catch {
      answer = .ends(total == nil ? withoutEnd(error) : error)
      return .ended
    }
    digest?.append(bytes)
    if checkpoint.isDue(at: part.length, now: .now) { makeDurable(part) }
    return .taken
  }

  /// A body of no known length that fills the disk may have no end, so it keeps none of it, and needs twice the room.
  private func withoutEnd(_ trouble: Trouble) -> Trouble {
    guard case .noSpace = trouble.kind, let part else { return trouble }
    let needed = part.length * 2
    do throws(Trouble) {
      try part.truncate(to: 0)
    } catch {
      return error
    }
    return Trouble(.noSpace(needed: needed), trouble.message)
  }

  private func makeDurable(_ part: PartFile) {
    let bytes = part.length
    let version = version
    checkpoint.begin()
    // The part is named here so that its descriptor is open until then.
    place.disk.run(.keep(descriptor: part.descriptor, path: part.path)) { [self, part] trouble in
      checkpoint.end()
      // A version that has gone meanwhile is of no use to anybody.
      if trouble == nil, !isOver, self.part === part, self.version == version { tellBegan(durable: bytes) }
    }
  }
}
