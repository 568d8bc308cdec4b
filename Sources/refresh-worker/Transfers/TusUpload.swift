import FoundationEssentials
import HTTP
import RefreshAPI

/// The tus protocol of an upload: create the upload, ask for its offset, send the rest.
extension Upload {
  func sendByTus() throws(TaskFailure) {
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
          .failed, "cannot use the answer: it names no URL of http or https, or too long a one, to send the file to")
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
      throw TaskFailure(.retry(after: nil), "cannot go on: the server forgets again and again what it has")
    }
  }

  private func base64(_ text: some StringProtocol) -> String { Data(text.utf8).base64EncodedString() }
}
