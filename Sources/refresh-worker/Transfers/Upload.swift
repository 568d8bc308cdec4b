import HTTP
import RefreshAPI

/// One file on its way to a server.
///
/// PUT and POST send it from its start each time; by tus it goes on where it was (`UploadByTus.swift`).
final class Upload: Transfer {
  let id: Int64
  let assignment: Wire.Assignment
  unowned let place: any TransferPlace
  var source: SourceFile?
  /// How many bytes have been handed over to be sent.
  var sent: Int64 = 0
  /// Where a tus server takes the file.
  var resource: WebAddress?
  /// How often it may still be begun anew without a byte of progress.
  var patience = Upload.mostPatience
  /// How many bytes a tus server has said that it has.
  var confirmed: Int64 = 0
  private var exchange: Exchange?
  private var share: Int64?
  /// Where it was last sent to.
  private var target: WebAddress?
  private var redirects = 0
  private var loss = Loss.impossible
  private(set) var isOver = false
  /// What broke the body.
  private var trouble: Trouble?

  /// Whether the daemon will take a POST for one whose answer was lost, and not send it again.
  private enum Loss {
    /// It cannot have arrived.
    case impossible
    /// The daemon is being told, and until it knows the last bytes stay here.
    case told
    /// It may arrive at any moment.
    case known
  }

  init(id: Int64, _ assignment: Wire.Assignment, in place: any TransferPlace) {
    self.id = id
    self.assignment = assignment
    self.place = place
  }

  var progress: (bytes: Int64, total: Int64?) { (sent, source?.length) }
  private var method: HTTPRequest.Method { assignment.method == "POST" ? .post : .put }

  func start() {
    do throws(Trouble) {
      let (folder, name) = try Folder.split(assignment.path)
      let source = try SourceFile(in: place.folder(folder), named: name)
      self.source = source
      if let length = assignment.length, length != source.length {
        throw Trouble(.failed, "cannot send \(source.path): it has \(source.length) bytes instead of \(length)")
      }
      guard let digest = assignment.sha256?.lowercased() else { return try send() }
      let check = Disk.Errand.check(
        descriptor: source.descriptor, length: source.length, digest: digest, path: source.path)
      place.disk.run(check) { [self] trouble in
        guard !isOver else { return }
        do throws(Trouble) {
          if let trouble { throw trouble }
          try send()
        } catch {
          end(error)
        }
      }
    } catch {
      end(error)
    }
  }

  func stop(discarding: Bool) {
    guard !isOver else { return }
    // Its answer is on the way, and lost it would be a failure.
    if exchange != nil, loss == .known, !discarding { return }
    if let exchange { place.loop.cancel(exchange) }
    over(Wire.TransferReport(id: id, kind: .ended, bytes: confirmed, total: source?.length, end: .stopped))
  }

  func limit(to share: Int64?) {
    self.share = share
    exchange?.limit(to: rate)
  }

  func keep() {}

  static let mostPatience = 5
  private static let ownHeaders: Set<String> = [
    "content-length", "transfer-encoding", "expect", "tus-resumable", "upload-length", "upload-offset",
    "upload-metadata",
  ]

  private var rate: Int64? { [share, assignment.maxRate].compactMap(\.self).min() }

  // MARK: Sending

  private func send() throws(Trouble) {
    guard assignment.tus != true else { return try sendByTus() }
    if method == .post, assignment.resume?.url != nil { throw lostAnswer }
    try send(to: assignment.url)
  }

  private func send(to url: String) throws(Trouble) {
    guard let source else { return }
    sent = 0
    // Its head is all of it.
    if method == .post, source.length == 0, loss == .impossible {
      return tellMayArrive { [self] in goOn { () throws(Trouble) in try send(to: url) } }
    }
    var request = try request(to: url)
    request.method = method
    request.bodyLength = source.length
    // One that another exchange has left may be dead, and libcurl would then send the body twice.
    request.reusesConnection = method == .put
    let hasType = request.headers.contains { $0.lowercased().hasPrefix("content-type:") }
    if !hasType { request.headers.append("Content-Type: application/octet-stream") }
    try start(request) { [unowned self] in takeEnd($0, $1) }
  }

  /// A request to the server of the order, or to another that it named, which gets no secrets of the first.
  func request(to url: String) throws(Trouble) -> HTTPRequest {
    guard let first = WebAddress(assignment.url), let address = WebAddress(url) else {
      throw Trouble(.failed, "cannot read the URL; give one of http or https")
    }
    guard first.scheme == "http" || address.scheme == "https" else {
      throw Trouble(.failed, "cannot follow \(first.host): it leads from https to http")
    }
    var request = try HTTPRequest(
      assignment, replacing: Self.ownHeaders.union(assignment.tus == true ? ["content-type"] : []))
    target = address
    request.url = url
    if !address.hasOrigin(of: first) {
      request.headers = []
      request.login = assignment.netrc == true && assignment.credentialFile == nil ? .netrc : .none
    }
    request.maxRate = rate
    return request
  }

  /// How much of a request has left.
  struct Sending {
    let hasBegun: Bool
    let bytes: Int64
  }

  /// Sends it; the body is the file from `sent` on.
  func start(
    _ request: HTTPRequest, then take: @escaping (Exchange.End, Sending) -> Void
  ) throws(Trouble) {
    let exchange = Exchange(request)
    let first = sent
    exchange.fill = { [unowned self] in fill($0) }
    exchange.rewind = { [unowned self] offset in
      sent = first + offset
      return true
    }
    exchange.onEnd = { [unowned self, unowned exchange] end in
      let sending = Sending(hasBegun: exchange.wasSent, bytes: exchange.uploaded)
      self.exchange = nil
      if let trouble { return self.end(trouble) }
      take(end, sending)
    }
    self.exchange = exchange
    do throws(ExchangeFailure) {
      try place.loop.start(exchange)
    } catch {
      throw Trouble(error)
    }
  }

  private func fill(_ room: UnsafeMutableRawBufferPointer) -> Exchange.Filling {
    guard let source else { return .broken }
    // A server does nothing with a body that is cut (RFC 9112 section 8), so only the last bytes matter.
    if method == .post, assignment.tus != true, loss != .known, sent + Int64(room.count) >= source.length {
      tellMayArrive { [self] in if let exchange { place.loop.resume(exchange) } }
      return .paused
    }
    guard let count = source.fill(room, from: sent) else {
      trouble = changed(source)
      return .broken
    }
    sent += Int64(count)
    return .bytes(count)
  }

  private func tellMayArrive(then send: @escaping () -> Void) {
    loss = .told
    tell(url: assignment.url) { [weak self] in
      guard let self, !isOver else { return }
      loss = .known
      send()
    }
  }

  private func tell(url: String?, onSaved: @escaping () -> Void = {}) {
    let resume = Wire.Resume(
      url: url, etag: source?.signature, total: source?.length, durable: 0, boot: place.boot)
    place.reports.add(Wire.TransferReport(id: id, kind: .began, resume: resume), onSaved: onSaved)
  }

  private func takeEnd(_ end: Exchange.End, _ sending: Sending) {
    switch end {
    case .whole(let head), .failed(_, let head?), .stopped(let head): judge(head, sending)
    case .failed(let failure, nil):
      // Not if the last bytes never left, whatever became of the rest.
      let mayHaveArrived = loss == .known && sending.hasBegun && sent == source?.length
      self.end(mayHaveArrived ? lostAnswer : Trouble(failure))
    }
  }

  private func judge(_ head: ResponseHead, _ sending: Sending) {
    guard let source else { return }
    do throws(Trouble) {
      switch UploadAnswer(head, to: method, now: HTTPDate.now()) {
      case .isTaken:
        // Of a network that asks for a login first, most often.
        guard sent == source.length, sending.bytes == source.length else { throw earlyAnswer(source) }
        try finish(source)
      case .isElsewhere:
        redirects += 1
        guard redirects <= 20, let here = target, let location = head["location"],
          let next = here.resolving(location)
        else { throw Trouble(.failed, "cannot follow \(head.status): it leads nowhere, or on and on") }
        try send(to: next.text)
      case .ends(let trouble): throw trouble
      }
    } catch {
      end(error)
    }
  }

  /// The server has all of it.
  func finish(_ source: SourceFile) throws(Trouble) {
    guard source.isUnchanged else { throw changed(source) }
    over(
      Wire.TransferReport(
        id: id, kind: .ended, bytes: source.length, total: source.length, end: .done,
        sha256: assignment.sha256?.lowercased()))
  }

  private func changed(_ source: SourceFile) -> Trouble {
    Trouble(.failed, "cannot send \(source.path): it was changed meanwhile; send it again once it is finished")
  }

  private func earlyAnswer(_ source: SourceFile) -> Trouble {
    let sentence = "cannot tell whether \(source.path) has arrived: the server answered before it had all of it"
    return method == .post
      ? Trouble(.failed, "\(sentence); look there before you send it again") : Trouble(.retry(after: nil), sentence)
  }

  private var lostAnswer: Trouble {
    Trouble(
      .failed, "cannot tell whether the file has arrived: the answer was lost; look there before you send it again")
  }

  func end(_ trouble: Trouble) {
    over(Wire.TransferReport(id: id, trouble: trouble, bytes: confirmed, total: source?.length))
  }

  /// Does the next step, unless it is over.
  func goOn(_ step: () throws(Trouble) -> Void) {
    guard !isOver else { return }
    do throws(Trouble) {
      try step()
    } catch {
      end(error)
    }
  }

  private func over(_ report: Wire.TransferReport) {
    guard !isOver else { return }
    isOver = true
    exchange = nil
    // What will be sent again has not arrived, whatever the daemon was told.
    if loss != .impossible, report.end != .done, report.end != .failed { tell(url: nil) }
    place.ended(self, report)
  }
}
