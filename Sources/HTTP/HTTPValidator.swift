/// The validator of a file's version on a server, by which a partial download is resumed (RFC 9110 section 8.8).
package enum HTTPValidator: Hashable, Sendable {
  /// A strong entity tag, with its quotes.
  case tag(String)
  /// The value of `Last-Modified`.
  case date(String)

  /// The best validator of a response; nil if none is reliable.
  ///
  /// A weak tag (`W/"…"`) does not promise the same bytes. A date counts only if it is a minute older than the response,
  /// because a file that changes twice in a second keeps its date (RFC 9110 section 8.8.2.2).
  package init?(_ head: ResponseHead) {
    if let tag = head["etag"], Self.isStrong(tag) {
      self = .tag(tag)
    } else if let changed = head["last-modified"], let then = HTTPDate.seconds(changed),
      let now = head["date"].flatMap(HTTPDate.seconds), then <= now - 60
    {
      self = .date(changed)
    } else {
      return nil
    }
  }

  /// The value for `If-Range`.
  package var text: String {
    switch self {
    case .tag(let text), .date(let text): text
    }
  }

  /// Whether a response names another version; a response without a validator does not.
  package func isContradicted(by head: ResponseHead) -> Bool {
    switch self {
    case .tag(let tag): head["etag"].map { $0 != tag } ?? false
    case .date(let date): head["last-modified"].map { $0 != date } ?? false
    }
  }

  private static func isStrong(_ tag: String) -> Bool {
    tag.utf8.count >= 3 && tag.hasPrefix("\"") && tag.hasSuffix("\"")
      && tag.utf8.dropFirst().dropLast().allSatisfy { $0 > 0x20 && $0 != UInt8(ascii: "\"") && $0 != 0x7f }
  }
}

extension ResponseHead {
  /// The value of a validator's field, if it can be sent back and has at most 1024 bytes.
  package func validator(_ name: String) -> String? {
    self[name].flatMap { $0.utf8.count <= 1024 && $0.utf8.allSatisfy { $0 >= 0x20 } ? $0 : nil }
  }
}
