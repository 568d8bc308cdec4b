import HTTP

/// What the answer to a conditional GET means (RFC 9110 section 15).
enum FetchAnswer: Hashable {
  /// The content follows.
  case content
  /// Nothing is new.
  case same
  /// It is elsewhere: the value of `Location`.
  case elsewhere(String)
  /// There is none; whether another try may bring one.
  case none(isTemporary: Bool)

  init(_ head: ResponseHead) {
    switch head.status {
    case 200, 203: self = .content
    // 204 has no content to put in the place of what is there.
    case 204, 304: self = .same
    case 301, 302, 303, 307, 308:
      if let place = head["location"] { self = .elsewhere(place) } else { self = .none(isTemporary: false) }
    case 408, 425, 429, 500...599: self = .none(isTemporary: true)
    default: self = .none(isTemporary: false)
    }
  }
}
