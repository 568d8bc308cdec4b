import HTTP

/// What an answer of a tus server means (<https://tus.io/protocols/resumable-upload>, version 1.0.0).
enum TusAnswer: Hashable, Sendable {
  /// It was asked to take a file, and takes it at this reference.
  case isCreated(String)
  /// So many bytes of the file are there.
  case has(Int64)
  /// It knows nothing of the file (any more).
  case isGone
  /// It has another number of bytes than it was told.
  case differs
  case ends(Trouble)

  /// Judges the answer to a POST, which creates, a HEAD or a PATCH; `now` is seconds since 1970.
  init(_ head: ResponseHead, to method: HTTPRequest.Method, now: Int64) {
    let isTus = head["tus-resumable"] != nil
    switch (method, head.status) {
    case (.post, 201): self = head["location"].map(Self.isCreated) ?? .ends(Self.noTus(head))
    case (.head, 200...299), (.patch, 200...299):
      self = head["upload-offset"].flatMap(ContentRange.number).map(Self.has) ?? .ends(Self.noTus(head))
    // Some forbid what is not there (any more), as the protocol lets them.
    case (.head, 403), (.head, 404), (.head, 410), (.patch, 404), (.patch, 410): self = .isGone
    case (.patch, 409): self = .differs
    // Another connection still holds it, which the server will notice.
    case (_, 423): self = .ends(Trouble(.retry(after: head.retryAfter(now: now)), "HTTP status 423"))
    case (.post, 200...399), (.post, 404), (.post, 405), (.post, 501): self = .ends(Self.noTus(head))
    case (.post, 400...499) where !isTus && ![401, 403, 407, 408, 413, 425, 429].contains(head.status):
      self = .ends(Self.noTus(head))
    default: self = .ends(DownloadAnswer.trouble(head, now: now))
    }
  }

  private static func noTus(_ head: ResponseHead) -> Trouble {
    Trouble(.failed, "HTTP status \(head.status): the server takes no uploads by tus there; leave out tus")
  }
}
