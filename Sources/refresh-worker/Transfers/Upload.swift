import FoundationEssentials
import HTTP
import RefreshAPI

/// An upload of one file.
///
/// PUT and POST send the file from its start each time; tus resumes.
final class Upload: Transfer {
  let id: Int64
  private let assignment: Wire.Assignment
  private unowned let host: any TransferHost
  private var source: SourceFile?
  /// How many bytes libcurl was given to send.
  private var sent: Int64 = 0
  /// The URL of the upload on a tus server.
  private var resource: WebAddress?
  /// How many more requests may make no progress.
  private var patience = Upload.mostPatience
  /// How many bytes a tus server has confirmed.
  private var confirmed: Int64 = 0
  private var exchange: Exchange?
  private var share: Int64?
  /// The URL of the last request.
  private var target: WebAddress?
  private var redirects = 0
  private var loss = Loss.impossible
  private var isOver = false
  /// The failure while reading the file.
  private var failure: TaskFailure?

  /// Whether the server may have processed a POST whose response was lost, so that it must not be sent again.
  private enum Loss {
    /// The server lacks the last bytes.
    case impossible
    /// The report is on its way to the daemon; the last bytes wait for its reply.
    case reported
    /// The daemon knows, and the last bytes may be sent.
    case known
  }

  init(id: Int64, _ assignment: Wire.Assignment, in host: any TransferHost) {
    self.id = id
    self.assignment = assignment
    self.host = host
  }

  var progress: (bytes: Int64, total: Int64?) { (sent, source?.length) }
  private var method: HTTPRequest.Method { assignment.method == "POST" ? .post : .put }

  func start() {
    do throws(TaskFailure) {
      let (folder, name) = try Folder.split(assignment.path)
      let source = try SourceFile(in: host.folder(folder), named: name)
      self.source = source
      if let length = assignment.length, length != source.length {
        throw TaskFailure(.failed, "cannot send \(source.path): it has \(source.length) bytes instead of \(length)")
      }
      guard let digest = assignment.sha256?.lowercased() else { return try send() }
      let check = Disk.Job.check(
        descriptor: source.descriptor, length: source.length, digest: digest, path: source.path)
      host.disk.run(check) { [self] failure in
        guard !isOver else { return }
        do throws(TaskFailure) {
          // Another try would send the same file.
          if let failure { throw failure.kind == .wrong ? TaskFailure(.failed, failure.message) : failure }
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
    // Wait for the response, because a lost response would be a failure.
    if exchange != nil, loss == .known, !discarding { return }
    if let exchange { host.loop.cancel(exchange) }
    over(Wire.TransferReport(id: id, kind: .ended, bytes: confirmed, total: source?.length, end: .stopped))
  }

  func limit(to share: Int64?) {
    self.share = share
    exchange?.limit(to: rate)
  }

  func sync() {}

  private static let mostPatience = 5
  private static let ownHeaders: Set<String> = [
    "content-length", "transfer-encoding", "expect", "tus-resumable", "upload-length", "upload-offset",
    "upload-metadata",
  ]

  private var rate: Int64? { [share, assignment.maxRate].compactMap(\.self).min() }

  // MARK: Sending

  private func send() throws(TaskFailure) {
    guard assignment.tus != true else { return try sendByTus() }
    if method == .post, assignment.resume?.url != nil { throw lostAnswer }
    try send(to: assignment.url)
  }

  private func send(to url: String) throws(TaskFailure) {
    guard let source else { return }
    sent = 0
    // An empty body has no last bytes to hold back, so report before the head.
    if method == .post, source.length == 0, loss == .impossible {
      return reportMayArrive { [self] in goOn { () throws(TaskFailure) in try send(to: url) } }
    }
    var request = try request(to: url)
    request.method = method
    request.bodyLength = source.length
    // A reused connection may be dead, and libcurl would then send the body twice.
    request.reusesConnection = method == .put
    let hasType = request.headers.contains { $0.lowercased().hasPrefix("content-type:") }
    if !hasType { request.headers.append("Content-Type: application/octet-stream") }
    try start(request) { [unowned self] in receiveEnd($0, $1) }
  }

  /// Makes a request to a URL; omits the order's secrets unless the URL has the order's origin.
  private func request(to url: String) throws(TaskFailure) -> HTTPRequest {
    guard let first = WebAddress(assignment.url), let address = WebAddress(url) else {
      throw TaskFailure(.failed, "cannot read the URL; give an http or https URL")
    }
    guard first.scheme == "http" || address.scheme == "https" else {
      throw TaskFailure(.failed, "cannot follow \(first.host): it leads from https to http")
    }
    var request = try HTTPRequest(
      assignment, replacing: Self.ownHeaders.union(assignment.tus == true ? ["content-type"] : []))
    target = address
    request.url = url
    if !address.hasOrigin(of: first) {
      request.headers = []
      request.login = .none
    }
    request.maxRate = rate
    return request
  }

  /// How much of a request was sent.
  private struct Sending {
    let hasBegun: Bool
    let bytes: Int64
  }

  /// Sends a request whose body is the file from `sent` on.
  private func start(
    _ request: HTTPRequest, then receive: @escaping (Exchange.End, Sending) -> Void
  ) throws(TaskFailure) {
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
      if let failure { return self.end(failure) }
      receive(end, sending)
    }
    self.exchange = exchange
    try host.start(exchange)
  }

  private func fill(_ room: UnsafeMutableRawBufferPointer) -> Exchange.Filling {
    guard let source else { return .broken }
    // A server ignores an incomplete body (RFC 9112 section 8), so only the last bytes must wait for the report.
    if method == .post, assignment.tus != true, loss != .known, sent + Int64(room.count) >= source.length {
      reportMayArrive { [self] in if let exchange { host.loop.resume(exchange) } }
      return .paused
    }
    guard let count = source.fill(room, from: sent) else {
      failure = changed(source)
      return .broken
    }
    sent += Int64(count)
    return .bytes(count)
  }

  private func reportMayArrive(then send: @escaping () -> Void) {
    loss = .reported
    report(url: assignment.url) { [weak self] in
      guard let self, !isOver else { return }
      loss = .known
      send()
    }
  }

  private func report(url: String?, onSaved: @escaping () -> Void = {}) {
    let resume = Wire.Resume(
      url: url, etag: source?.signature, total: source?.length, durable: 0, boot: host.boot)
    host.reports.add(Wire.TransferReport(id: id, kind: .began, resume: resume), onSaved: onSaved)
  }

  private func receiveEnd(_ end: Exchange.End, _ sending: Sending) {
    switch end {
    case .whole(let head), .unmarked(let head), .failed(_, let head?), .stopped(let head): judge(head, sending)
    case .failed(let failure, nil):
      // Without its last bytes the server cannot have processed the request.
      let mayHaveArrived = loss == .known && sending.hasBegun && sent == source?.length
      self.end(mayHaveArrived ? lostAnswer : TaskFailure(failure))
    }
  }

  private func judge(_ head: ResponseHead, _ sending: Sending) {
    guard let source else { return }
    do throws(TaskFailure) {
      switch UploadAnswer(head, to: method, now: HTTPDate.now()) {
      case .isAccepted:
        // An early response comes most often from a captive portal.
        guard sent == source.length, sending.bytes == source.length else { throw earlyAnswer(source) }
        try finish(source)
      case .isElsewhere:
        redirects += 1
        guard redirects <= 20, let here = target, let location = head["location"],
          let next = here.resolving(location)
        else { throw TaskFailure(.failed, "cannot follow \(head.status): it leads nowhere, or redirects forever") }
        try send(to: next.text)
      case .ends(let failure): throw failure
      }
    } catch {
      end(error)
    }
  }

  /// Ends after the server accepted the whole file.
  private func finish(_ source: SourceFile) throws(TaskFailure) {
    guard source.isUnchanged else { throw changed(source) }
    over(
      Wire.TransferReport(
        id: id, kind: .ended, bytes: source.length, total: source.length, end: .done,
        sha256: assignment.sha256?.lowercased()))
  }

  private func changed(_ source: SourceFile) -> TaskFailure {
    TaskFailure(
      .failed, "cannot send \(source.path): it was changed during the upload; send it again once it is finished")
  }

  private func earlyAnswer(_ source: SourceFile) -> TaskFailure {
    let sentence = "cannot tell whether \(source.path) has arrived: the server answered before it had the whole file"
    return method == .post
      ? TaskFailure(.failed, "\(sentence); check the server before you send it again")
      : TaskFailure(.retry(after: nil), sentence)
  }

  private var lostAnswer: TaskFailure {
    TaskFailure(
      .failed,
      "cannot tell whether the file has arrived: the answer was lost; check the server before you send it again")
  }

  private func end(_ failure: TaskFailure) {
    over(Wire.TransferReport(id: id, failure: failure, bytes: confirmed, total: source?.length))
  }

  /// Runs the next step, unless the upload has ended.
  private func goOn(_ step: () throws(TaskFailure) -> Void) {
    guard !isOver else { return }
    do throws(TaskFailure) {
      try step()
    } catch {
      end(error)
    }
  }

  private func over(_ report: Wire.TransferReport) {
    guard !isOver else { return }
    isOver = true
    exchange = nil
    // An upload that will be retried did not arrive, so withdraw the report that it may have.
    if loss != .impossible, report.end != .done, report.end != .failed { self.report(url: nil) }
    host.ended(self, report)
  }
}

/// The tus protocol of an upload: create the upload, ask for its offset, send the rest.
extension Upload {
  private func sendByTus() throws(TaskFailure) {
    guard let source else { return }
    // Resume only if the file has not changed since the last try.
    if let resume = assignment.resume, resume.etag == source.signature, let url = resume.tusURL,
      let resource = WebAddress(url)
    {
      self.resource = resource
      try askOffset()
    } else {
      try create()
    }
  }

  private func create() throws(TaskFailure) {
    guard let source else { return }
    try usePatience()
    sent = 0
    var request = try request(to: assignment.url)
    request.method = .post
    request.bodyLength = 0
    let name = source.path.split(separator: "/").last ?? "file"
    request.headers += [
      "Tus-Resumable: 1.0.0", "Upload-Length: \(source.length)", "Content-Type:",
      // Some servers do not answer HEAD for an upload without a type.
      "Upload-Metadata: filename \(base64(name)),filetype \(base64("application/octet-stream"))",
    ]
    try start(request) { [unowned self] end, _ in receive(end, to: .post) }
  }

  private func askOffset() throws(TaskFailure) {
    guard let resource else { return }
    try usePatience()
    var request = try request(to: resource.text)
    request.method = .head
    request.headers.append("Tus-Resumable: 1.0.0")
    try start(request) { [unowned self] end, _ in receive(end, to: .head) }
  }

  private func sendRest() throws(TaskFailure) {
    guard let source, let resource else { return }
    guard sent < source.length else { return try finish(source) }
    var request = try request(to: resource.text)
    request.method = .patch
    request.bodyLength = source.length - sent
    request.headers += [
      "Tus-Resumable: 1.0.0", "Upload-Offset: \(sent)", "Content-Type: application/offset+octet-stream",
    ]
    try start(request) { [unowned self] end, _ in receive(end, to: .patch) }
  }

  private func receive(_ end: Exchange.End, to method: HTTPRequest.Method) {
    do throws(TaskFailure) {
      switch end {
      case .failed(let failure, nil): throw TaskFailure(failure)
      case .whole(let head), .unmarked(let head), .failed(_, let head?), .stopped(let head):
        try act(on: TusAnswer(head, to: method, now: HTTPDate.now()))
      }
    } catch {
      self.end(error)
    }
  }

  private func act(on answer: TusAnswer) throws(TaskFailure) {
    guard let source else { return }
    switch answer {
    case .isCreated(let location):
      guard let resource = WebAddress(assignment.url)?.resolving(location),
        resource.text.utf8.count <= WebAddress.longest
      else {
        throw TaskFailure(
          .failed, "cannot use the answer: it has no http or https URL for the file, or one that is too long")
      }
      self.resource = resource
      let resume = Wire.Resume(
        etag: source.signature, total: source.length, durable: 0, boot: host.boot, tusURL: resource.text)
      // Send no byte before the daemon has saved the URL, or a crash would start the upload again.
      host.reports.add(Wire.TransferReport(id: id, kind: .began, resume: resume, total: source.length)) {
        [weak self] in
        self?.goOn { () throws(TaskFailure) in try self?.sendRest() }
      }
    case .has(let offset):
      guard offset <= source.length else { return try create() }
      // Only an offset beyond all earlier ones is progress.
      if offset > confirmed { patience = Self.mostPatience } else { try usePatience() }
      confirmed = max(confirmed, offset)
      sent = offset
      try sendRest()
    case .isGone: try create()
    case .differs: try askOffset()
    case .ends(let failure): throw failure
    }
  }

  private func usePatience() throws(TaskFailure) {
    patience -= 1
    guard patience >= 0 else {
      throw TaskFailure(.retry(after: nil), "cannot continue: the server keeps losing what it has received")
    }
  }

  private func base64(_ text: some StringProtocol) -> String { Data(text.utf8).base64EncodedString() }
}
