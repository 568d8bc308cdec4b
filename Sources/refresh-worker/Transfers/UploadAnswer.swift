import HTTP

/// The meaning of a response head for an upload by PUT or POST.
enum UploadAnswer: Hashable, Sendable {
  /// The server accepted the file.
  case isAccepted
  /// Send the file to the URL in `Location`.
  case isElsewhere
  case ends(TaskFailure)

  /// Classifies a head; `now` is seconds since 1970.
  ///
  /// A POST is sent again only if the server did not process it. A PUT may be sent any number of times.
  init(_ head: ResponseHead, to method: HTTPRequest.Method, now: Int64) {
    let message = "HTTP status \(head.status)"
    switch head.status {
    // 303: the server accepted the file and shows the result at another URL.
    case 200...299, 303: self = .isAccepted
    case 307, 308: self = .isElsewhere
    case 301...302 where method == .post:
      self = .ends(TaskFailure(.failed, "\(message): give the URL that it redirects to"))
    case 301...302: self = .isElsewhere
    case 500...599 where method == .post && head.status != 503:
      self = .ends(
        TaskFailure(.failed, "\(message): the file may have arrived; check the server before you send it again"))
    default: self = .ends(DownloadAnswer.failure(head, now: now))
    }
  }
}

/// The meaning of a tus server's response (<https://tus.io/protocols/resumable-upload>, version 1.0.0).
enum TusAnswer: Hashable, Sendable {
  /// The server created the upload at this URL reference.
  case isCreated(String)
  /// The server has this many bytes of the file.
  case has(Int64)
  /// The server does not know the upload, or no longer knows it.
  case isGone
  /// The server has another number of bytes than the request said.
  case differs
  case ends(TaskFailure)

  /// Classifies the response to a POST, which creates the upload, a HEAD or a PATCH; `now` is seconds since 1970.
  init(_ head: ResponseHead, to method: HTTPRequest.Method, now: Int64) {
    let isTus = head["tus-resumable"] != nil
    switch (method, head.status) {
    case (.post, 201): self = head["location"].map(Self.isCreated) ?? .ends(Self.noTus(head))
    case (.head, 200...299), (.patch, 200...299):
      self = head["upload-offset"].flatMap(ContentRange.number).map(Self.has) ?? .ends(Self.noTus(head))
    // The protocol lets servers answer 403 for an unknown upload.
    case (.head, 403), (.head, 404), (.head, 410), (.patch, 404), (.patch, 410): self = .isGone
    case (.patch, 409): self = .differs
    // The server has not yet noticed that an earlier connection is dead.
    case (_, 423): self = .ends(TaskFailure(.retry(after: head.retryAfter(now: now)), "HTTP status 423"))
    case (.post, 200...399), (.post, 404), (.post, 405), (.post, 501): self = .ends(Self.noTus(head))
    case (.post, 400...499) where !isTus && ![401, 403, 407, 408, 413, 425, 429].contains(head.status):
      self = .ends(Self.noTus(head))
    default: self = .ends(DownloadAnswer.failure(head, now: now))
    }
  }

  private static func noTus(_ head: ResponseHead) -> TaskFailure {
    TaskFailure(.failed, "HTTP status \(head.status): the server does not accept uploads with tus there; leave out tus")
  }
}
