import HTTP

/// The meaning of a response head for an upload by PUT or POST.
enum UploadAnswer: Hashable, Sendable {
  /// The server accepted the file.
  case isTaken
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
    case 200...299, 303: self = .isTaken
    case 307, 308: self = .isElsewhere
    case 301...302 where method == .post:
      self = .ends(TaskFailure(.failed, "\(message): give the URL that it redirects to"))
    case 301...302: self = .isElsewhere
    case 500...599 where method == .post && head.status != 503:
      self = .ends(TaskFailure(.failed, "\(message): the file may have arrived; look there before you send it again"))
    default: self = .ends(DownloadAnswer.failure(head, now: now))
    }
  }
}
