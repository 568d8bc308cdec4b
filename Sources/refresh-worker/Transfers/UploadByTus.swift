import FoundationEssentials
import HTTP
import RefreshAPI

/// The way of a file to a tus server: create, ask how much is there, send the rest.
extension Upload {
  func sendByTus() throws(Trouble) {
    guard let source else { return }
    // Of a file that has changed between two tries nothing that is there can be completed.
    if let resume = assignment.resume, resume.etag == source.signature, let url = resume.tusURL,
      let resource = WebAddress(url)
    {
      self.resource = resource
      try askOffset()
    } else {
      try create()
    }
  }

  private func create() throws(Trouble) {
    guard let source else { return }
    try usePatience()
    sent = 0
    var request = try request(to: assignment.url)
    request.method = .post
    request.bodyLength = 0
    let name = source.path.split(separator: "/").last ?? "file"
    request.headers += [
      "Tus-Resumable: 1.0.0", "Upload-Length: \(source.length)", "Content-Type:",
      // Some servers answer no HEAD to a file without a type.
      "Upload-Metadata: filename \(base64(name)),filetype \(base64("application/octet-stream"))",
    ]
    try start(request) { [unowned self] end, _ in take(end, to: .post) }
  }

  private func askOffset() throws(Trouble) {
    guard let resource else { return }
    try usePatience()
    var request = try request(to: resource.text)
    request.method = .head
    request.headers.append("Tus-Resumable: 1.0.0")
    try start(request) { [unowned self] end, _ in take(end, to: .head) }
  }

  private func sendRest() throws(Trouble) {
    guard let source, let resource else { return }
    guard sent < source.length else { return try finish(source) }
    var request = try request(to: resource.text)
    request.method = .patch
    request.bodyLength = source.length - sent
    request.headers += [
      "Tus-Resumable: 1.0.0", "Upload-Offset: \(sent)", "Content-Type: application/offset+octet-stream",
    ]
    try start(request) { [unowned self] end, _ in take(end, to: .patch) }
  }

  private func take(_ end: Exchange.End, to method: HTTPRequest.Method) {
    do throws(Trouble) {
      switch end {
      case .failed(let failure, nil): throw Trouble(failure)
      case .whole(let head), .failed(_, let head?), .stopped(let head):
        try act(on: TusAnswer(head, to: method, now: HTTPDate.now()))
      }
    } catch {
      self.end(error)
    }
  }

  private func act(on answer: TusAnswer) throws(Trouble) {
    guard let source else { return }
    switch answer {
    case .isCreated(let location):
      guard let resource = WebAddress(assignment.url)?.resolving(location),
        resource.text.utf8.count <= WebAddress.longest
      else {
        throw Trouble(
          .failed, "cannot use the answer: it names no URL of http or https, or too long a one, to send the file to")
      }
      self.resource = resource
      let resume = Wire.Resume(
        etag: source.signature, total: source.length, durable: 0, boot: place.boot, tusURL: resource.text)
      // Not a byte before, or it would be sent again if the machine stopped.
      place.reports.add(Wire.TransferReport(id: id, kind: .began, resume: resume, total: source.length)) {
        [weak self] in
        self?.goOn { () throws(Trouble) in try self?.sendRest() }
      }
    case .has(let offset):
      guard offset <= source.length else { return try create() }
      // One that goes to and fro makes no progress.
      if offset > confirmed { patience = Self.mostPatience } else { try usePatience() }
      confirmed = max(confirmed, offset)
      sent = offset
      try sendRest()
    case .isGone: try create()
    case .differs: try askOffset()
    case .ends(let trouble): throw trouble
    }
  }

  private func usePatience() throws(Trouble) {
    patience -= 1
    guard patience >= 0 else {
      throw Trouble(.retry(after: nil), "cannot go on: the server forgets again and again what it has")
    }
  }

  private func base64(_ text: some StringProtocol) -> String { Data(text.utf8).base64EncodedString() }
}
