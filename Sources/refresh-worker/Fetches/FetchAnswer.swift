import HTTP

/// The meaning of a response to a conditional GET (RFC 9110 section 15).
enum FetchAnswer: Hashable {
  /// The content follows.
  case content
  /// Nothing is new.
  case same
  /// A redirect to the value of `Location`.
  case elsewhere(String)
  /// No content; whether a retry may bring some.
  case none(isTemporary: Bool)

  init(_ head: ResponseHead) {
    switch head.status {
    case 200, 203: self = .content
    // 204 has no content that could replace the file.
    case 204, 304: self = .same
    case 301, 302, 303, 307, 308:
      if let location = head["location"] { self = .elsewhere(location) } else { self = .none(isTemporary: false) }
    case 408, 425, 429, 500...599: self = .none(isTemporary: true)
    default: self = .none(isTemporary: false)
    }
  }
}
