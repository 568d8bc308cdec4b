import HTTP

/// What an answer to a file that was sent means.
enum UploadAnswer: Hashable, Sendable {
  /// The server has it.
  case isTaken
  /// It is to be sent to where `Location` says.
  case isElsewhere
  case ends(Trouble)

  /// Judges the head of an answer; `now` is seconds since 1970.
  ///
  /// A POST is sent again only when the server says that it did nothing with it. A PUT may be sent any number of times.
  init(_ head: ResponseHead, to method: HTTPRequest.Method, now: Int64) {
    let message = "HTTP status \(head.status)"
    switch head.status {
    // 303: what came of it is to be seen elsewhere.
    case 200...299, 303: self = .isTaken
    case 307, 308: self = .isElsewhere
    case 301...302 where method == .post:
      self = .ends(Trouble(.failed, "\(message): give the URL that it redirects to"))
    case 301...302: self = .isElsewhere
    case 500...599 where method == .post && head.status != 503:
      self = .ends(Trouble(.failed, "\(message): the file may have arrived; look there before you send it again"))
    default: self = .ends(DownloadAnswer.trouble(head, now: now))
    }
  }
}
