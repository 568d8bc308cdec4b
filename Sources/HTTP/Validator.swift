/// What tells one version of a file on a server from another, byte by byte, so that a part of one may be completed.
package enum Validator: Hashable, Sendable {
  /// A strong entity tag, quotes included.
  case tag(String)
  /// The time of its last change, as the server wrote it.
  case date(String)

  /// The best that an answer offers; nil if there is none that can be relied on.
  ///
  /// A weak tag (`W/"…"`) says that two versions mean the same, not that they are the same. A date counts only when it
  /// is a minute older than the answer, because a file that changes twice in a second keeps it (RFC 9110 section 8.8.2.2).
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

  /// What goes into `If-Range`.
  package var text: String {
    switch self {
    case .tag(let text), .date(let text): text
    }
  }

  /// Whether an answer shows another version; one that says nothing shows none.
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
  /// The value of a field that tells a version, if it can be sent back to the server and is no burden to keep.
  package func validator(_ name: String) -> String? {
    self[name].flatMap { $0.utf8.count <= 1024 && $0.utf8.allSatisfy { $0 >= 0x20 } ? $0 : nil }
  }
}
