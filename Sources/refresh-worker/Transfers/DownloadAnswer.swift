import HTTP
import RefreshAPI

/// The state of a download when its request was sent.
struct DownloadQuestion: Hashable, Sendable {
  /// The first byte of the requested range; 0 requests the whole file.
  var from: Int64 = 0
  /// The validator of the bytes on disk; never nil if `from` is not 0.
  var validator: HTTPValidator?
  /// The length of that version, if known.
  var total: Int64?
  /// The length of the file that the app gave, if any.
  var expected: Int64?
  /// Whether the app gave a SHA-256, which will reveal a wrong file.
  var hasDigest = false
}

/// The meaning of a response head for a download; these rules never join bytes of two versions.
enum DownloadAnswer: Hashable, Sendable {
  /// The body continues the bytes on disk.
  case continues(total: Int64)
  /// The body is the whole file and replaces the bytes on disk.
  case begins(total: Int64?)
  /// The bytes on disk are the whole file.
  case isWhole
  /// The bytes on disk cannot be completed: drop them and request the whole file.
  case restarts
  /// A redirect to the value of `Location`.
  case isElsewhere(String)
  case ends(TaskFailure)

  /// Classifies a head; `now` is seconds since 1970.
  init(_ head: ResponseHead, to question: DownloadQuestion, now: Int64) {
    switch head.status {
    case 200: self = Self.whole(head, question)
    case 206: self = Self.part(head, question)
    case 416: self = Self.nothing(head, question)
    case 301, 302, 303, 307, 308:
      self = head["location"].map(Self.isElsewhere) ?? .ends(Self.failure(head, now: now))
    default: self = .ends(Self.failure(head, now: now))
    }
  }

  /// The failure of a status without a file.
  static func failure(_ head: ResponseHead, now: Int64) -> TaskFailure {
    let message = "HTTP status \(head.status)"
    switch head.status {
    case 408, 425, 429, 500...599: return TaskFailure(.retry(after: head.retryAfter(now: now)), message)
    case 401: return TaskFailure(.failed, "\(message): give a correct netrc or credential file")
    case 407: return TaskFailure(.failed, "\(message): give the proxy's user and password in its URL")
    case 403: return TaskFailure(.failed, "\(message): the URL may have expired, or needs a login")
    default: return TaskFailure(.failed, message)
    }
  }

  private static func whole(_ head: ResponseHead, _ question: DownloadQuestion) -> DownloadAnswer {
    let total = head.contentLength
    if let total, let expected = question.expected, total != expected {
      // The bytes on disk matched the file so far, so the answer is wrong, and the bytes stay for a retry.
      return .ends(.anotherLength(total, than: expected, question.from > 0 ? .retry(after: nil) : .wrong))
    }
    return .begins(total: total)
  }

  private static func part(_ head: ResponseHead, _ question: DownloadQuestion) -> DownloadAnswer {
    // A partial response is valid only for a range request. A range of a compressed file is not a range of the file.
    guard question.from > 0, head.encodings.isEmpty,
      case .part(let first, _, let total?)? = head["content-range"].flatMap(ContentRange.init),
      first == question.from, question.total.map({ $0 == total }) ?? true,
      question.expected.map({ $0 == total }) ?? true, question.validator?.isContradicted(by: head) != true
    else { return .restarts }
    return .continues(total: total)
  }

  private static func nothing(_ head: ResponseHead, _ question: DownloadQuestion) -> DownloadAnswer {
    guard question.from > 0 else { return .ends(TaskFailure(.failed, "HTTP status 416")) }
    guard case .unsatisfied(let total)? = head["content-range"].flatMap(ContentRange.init), total == question.from,
      question.total.map({ $0 == total }) ?? true, question.expected.map({ $0 == total }) ?? true,
      question.validator?.isContradicted(by: head) != true
    else { return .restarts }
    return .isWhole
  }
}

/// The meaning of the end of a body for a download.
enum DownloadEnd: Hashable, Sendable {
  /// The file is complete and may be verified.
  case isWhole
  /// Request the missing bytes.
  case lacksRest
  /// The body was longer than the file: drop all bytes.
  case restarts
  case ends(TaskFailure)

  /// Classifies a body that the server ended, with `have` bytes on disk.
  ///
  /// `isExplicit` is whether the protocol marked the end, so that a cut connection would have been noticed.
  init(have: Int64, total: Int64?, isExplicit: Bool, question: DownloadQuestion) {
    if let total = total ?? (isExplicit ? nil : question.expected) {
      self = have == total ? .isWhole : have < total ? .lacksRest : .restarts
    } else if let expected = question.expected, have != expected {
      self = .ends(.anotherLength(have, than: expected, .wrong))
    } else if isExplicit || question.hasDigest {
      self = .isWhole
    } else {
      self = .ends(
        TaskFailure(.wrong, "\(TaskFailure.noEnd); give a length or a SHA-256"))
    }
  }
}

extension TaskFailure {
  /// The failure of a wrong length; most often a captive portal sent its login page instead of the file.
  fileprivate static func anotherLength(_ length: Int64, than expected: Int64, _ kind: Kind) -> TaskFailure {
    TaskFailure(kind, "cannot use the answer: it has \(length) bytes, but the file has \(expected)")
  }
}

/// The version of the server's file that a part belongs to.
struct PartVersion: Hashable, Sendable {
  /// The final URL, after redirects.
  var url: String?
  var etag: String?
  var lastModified: String?
  var date: String?
  var total: Int64?

  /// Reads the version from a response; a value that is too long to store counts as absent.
  init(_ head: ResponseHead, url: String?, total: Int64?) {
    self.url = url.flatMap { $0.utf8.count <= WebAddress.longest ? $0 : nil }
    // A compressed file is never continued, because servers give it the validators of the plain one.
    if head.encodings.isEmpty {
      etag = head.validator("etag")
      lastModified = head.validator("last-modified")
      date = head.validator("date")
    }
    self.total = total
  }

  /// Reads the version that the daemon stored.
  init(_ resume: Wire.Resume) {
    url = resume.url
    etag = resume.etag
    lastModified = resume.lastModified
    date = resume.date
    total = resume.total
  }

  /// The validator for a range request; nil if the part cannot be completed.
  var validator: HTTPValidator? {
    var head = ResponseHead(status: 200)
    for case (let name, let value?) in [("etag", etag), ("last-modified", lastModified), ("date", date)] {
      head.fields.append((name, value))
    }
    return HTTPValidator(head)
  }

  /// Whether a response from this URL may continue the part; a date identifies a version on one server only.
  func mayContinue(from other: String?) -> Bool {
    if case .date? = validator { return url == other }
    return true
  }

  /// The resume data that the daemon stores and returns with the next order.
  func resume(durable: Int64, boot: String, mark: Int64) -> Wire.Resume {
    Wire.Resume(
      url: url, etag: etag, lastModified: lastModified, date: date, total: total, durable: durable, boot: boot,
      partMark: mark)
  }
}

extension Wire.Resume {
  /// How many bytes of a part are reliable.
  ///
  /// In the same boot all bytes are, because the kernel has them even if the worker was killed. After a reboot only the
  /// synced bytes are. If the mark differs, no bytes are.
  func kept(of part: PartFile, boot current: String) -> Int64 {
    guard partMark == part.mark else { return 0 }
    return boot == current ? part.length : min(durable, part.length)
  }
}
