/// The field `Content-Range` of an answer (RFC 9110 section 14.4).
package enum ContentRange: Hashable, Sendable {
  /// The body is the bytes from `first` to `last` of `total`; `total` is nil if the server does not know it.
  case part(first: Int64, last: Int64, total: Int64?)
  /// The requested range is outside the file, which has `total` bytes.
  case unsatisfied(total: Int64)

  /// Parses the field; nil unless the text has exactly its form.
  package init?(_ text: String) {
    let words = text.split(separator: " ", omittingEmptySubsequences: true)
    guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
    let sides = words[1].split(separator: "/", omittingEmptySubsequences: false)
    guard sides.count == 2 else { return nil }
    if sides[0] == "*" {
      guard let total = Self.number(sides[1]) else { return nil }
      self = .unsatisfied(total: total)
      return
    }
    let ends = sides[0].split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]), first <= last else {
      return nil
    }
    guard sides[1] != "*" else {
      self = .part(first: first, last: last, total: nil)
      return
    }
    guard let total = Self.number(sides[1]), last < total else { return nil }
    self = .part(first: first, last: last, total: total)
  }

  /// Parses digits only; `Int64.init` would accept a sign.
  package static func number(_ text: some StringProtocol) -> Int64? {
    guard !text.isEmpty, text.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }) else { return nil }
    return Int64(text)
  }
}
