import HTTP

/// What was asked of a server about a file, and what is there of it already.
struct DownloadQuestion: Hashable, Sendable {
  /// How many bytes are there; with 0 the whole is asked for.
  var from: Int64 = 0
  /// Which version they are of; never nil when `from` is not 0.
  var validator: Validator?
  /// How many bytes that version has, if it was said.
  var total: Int64?
  /// How many bytes the app says the file has.
  var expected: Int64?
  /// Whether the app has given a SHA-256, which will show any mistake.
  var hasDigest = false
}

/// What an answer means for the file: the rules by which a download is never spliced of two versions.
enum DownloadAnswer: Hashable, Sendable {
  /// The body continues what is there.
  case continues(total: Int64)
  /// The body is the whole: what is there goes.
  case begins(total: Int64?)
  /// What is there is the whole.
  case isWhole
  /// What is there cannot be completed: it goes, and the whole is asked for.
  case startsAnew
  /// It is elsewhere: the value of `Location`.
  case isElsewhere(String)
  case ends(Trouble)

  /// Judges the head of an answer; `now` is seconds since 1970.
  init(_ head: ResponseHead, to question: DownloadQuestion, now: Int64) {
    switch head.status {
    case 200: self = Self.whole(head, question)
    case 206: self = Self.part(head, question)
    case 416: self = Self.nothing(head, question)
    case 301, 302, 303, 307, 308:
      self = head["location"].map(Self.isElsewhere) ?? .ends(Self.trouble(head, now: now))
    default: self = .ends(Self.trouble(head, now: now))
    }
  }

  /// What a status means that brings no file.
  static func trouble(_ head: ResponseHead, now: Int64) -> Trouble {
    let message = "HTTP status \(head.status)"
    switch head.status {
    case 408, 425, 429, 500...599: return Trouble(.retry(after: head.retryAfter(now: now)), message)
    case 401: return Trouble(.failed, "\(message): give a netrc or a credential file that is right")
    case 407: return Trouble(.failed, "\(message): give the proxy's user and password in its URL")
    case 403: return Trouble(.failed, "\(message): the URL may have expired, or needs a login")
    default: return Trouble(.failed, message)
    }
  }

  private static func whole(_ head: ResponseHead, _ question: DownloadQuestion) -> DownloadAnswer {
    let total = head.contentLength
    if let total, let expected = question.expected, total != expected {
      // What is there already stays.
      return .ends(.anotherLength(total, than: expected))
    }
    return .begins(total: total)
  }

  private static func part(_ head: ResponseHead, _ question: DownloadQuestion) -> DownloadAnswer {
    // A part of what was asked for as a whole is none that anybody asked for.
    guard question.from > 0,
      case .part(let first, _, let total?)? = head["content-range"].flatMap(ContentRange.init),
      first == question.from, question.total.map({ $0 == total }) ?? true,
      question.expected.map({ $0 == total }) ?? true, question.validator?.isContradicted(by: head) != true
    else { return .startsAnew }
    return .continues(total: total)
  }

  private static func nothing(_ head: ResponseHead, _ question: DownloadQuestion) -> DownloadAnswer {
    guard question.from > 0 else { return .ends(Trouble(.failed, "HTTP status 416")) }
    guard case .unsatisfied(let total)? = head["content-range"].flatMap(ContentRange.init), total == question.from,
      question.total.map({ $0 == total }) ?? true, question.expected.map({ $0 == total }) ?? true,
      question.validator?.isContradicted(by: head) != true
    else { return .startsAnew }
    return .isWhole
  }
}

/// What the end of a body means for the file.
enum DownloadEnd: Hashable, Sendable {
  /// All of it is there, and may be checked.
  case isWhole
  /// The rest is to be asked for.
  case lacksRest
  /// More came than there is: nothing of it can be trusted.
  case startsAnew
  case ends(Trouble)

  /// Judges a body that ended as its server meant it to, with `have` bytes there.
  ///
  /// `isExplicit` says whether its end, where no length was given, could be told from a connection that was cut.
  init(have: Int64, total: Int64?, isExplicit: Bool, question: DownloadQuestion) {
    if let total = total ?? (isExplicit ? nil : question.expected) {
      self = have == total ? .isWhole : have < total ? .lacksRest : .startsAnew
    } else if let expected = question.expected, have != expected {
      self = .ends(.anotherLength(have, than: expected))
    } else if isExplicit || question.hasDigest {
      self = .isWhole
    } else {
      self = .ends(
        Trouble(.failed, "cannot tell whether this is all: the server gave no length; give a length or a SHA-256"))
    }
  }
}

extension Trouble {
  /// Of a network that asks for a login first, most often: a page in the place of the file.
  fileprivate static func anotherLength(_ length: Int64, than expected: Int64) -> Trouble {
    Trouble(.retry(after: nil), "cannot take the answer: it has \(length) bytes, and the file has \(expected)")
  }
}
