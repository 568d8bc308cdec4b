import CCurl
import Glibc

/// The status and the header fields of a response.
package struct ResponseHead: Hashable, Sendable {
  /// The status, such as 206.
  package var status: Int
  /// The fields in their order, with names in lower case and trimmed values.
  package var fields: [(name: String, value: String)]

  /// Makes a head.
  package init(status: Int, fields: [(name: String, value: String)] = []) {
    self.status = status
    self.fields = fields
  }

  /// Parses a status line, such as `HTTP/1.1 200 OK`; nil for any other line.
  package init?(statusLine line: Substring) {
    let words = line.split(maxSplits: 2, whereSeparator: \.isWhitespace)
    guard line.hasPrefix("HTTP/"), words.count >= 2, words[1].utf8.count == 3, let status = Int(words[1]) else {
      return nil
    }
    self.init(status: status)
  }

  /// Adds a line of the form `Name: value`; skips any other line.
  package mutating func append(line: Substring) {
    guard let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")) else { return }
    let name = line[..<colon].lowercased()
    fields.append((name, Self.trimmed(line[line.index(after: colon)...])))
  }

  /// The value of a field that may occur once; nil also if it occurs with different values.
  ///
  /// Two lengths or two entity tags cannot be trusted (RFC 9112 section 6.3).
  package subscript(name: String) -> String? {
    let values = fields.lazy.filter { $0.name == name }.map(\.value)
    guard let first = values.first, values.allSatisfy({ $0 == first }) else { return nil }
    return first
  }

  /// The members of a list field, such as `Cache-Control`, in order and trimmed (RFC 9110 section 5.6.1).
  package func list(_ name: String) -> [String] {
    fields.filter { $0.name == name }.flatMap { $0.value.split(separator: ",") }.map(Self.trimmed).filter { $0 != "" }
  }

  /// Whether status and fields are equal, in their order.
  package static func == (one: ResponseHead, other: ResponseHead) -> Bool {
    one.status == other.status && one.fields.elementsEqual(other.fields, by: ==)
  }

  /// Hashes the status and the number of fields.
  package func hash(into hasher: inout Hasher) {
    hasher.combine(status)
    hasher.combine(fields.count)
  }

  /// Removes HTTP's white space, which is ASCII, from both ends.
  private static func trimmed(_ text: Substring) -> String {
    let isSpace = { (byte: UInt8) in byte == 0x20 || 0x09...0x0d ~= byte }
    let start = text.utf8.drop(while: isSpace)
    guard let end = start.lastIndex(where: { !isSpace($0) }) else { return "" }
    return String(Substring(start[...end]))
  }
}

/// The rules that determine where the body of a response ends (RFC 9112 section 6.3).
///
/// A caller that keeps the body needs a marked end: without it, a body that was cut looks complete.
extension ResponseHead {
  /// How many bytes the body has on the wire; nil if no length is declared.
  package var contentLength: Int64? {
    fields.contains { $0.name == "transfer-encoding" } ? nil : self["content-length"].flatMap(ContentRange.number)
  }

  /// Whether the body is chunked, so that its last chunk marks the end.
  package var isChunked: Bool { list("transfer-encoding").last?.lowercased() == "chunked" }

  /// Whether the head says where the body ends, or that there is none.
  var marksEnd: Bool { hasNoBody || isChunked || contentLength != nil }

  /// Whether the status allows no body.
  private var hasNoBody: Bool { status < 200 || status == 204 || status == 304 }

  /// The mistake that makes the end of the body uncertain; nil without a mistake.
  var flaw: String? {
    // A chunked body marks its own end, so the length does not matter.
    guard !hasNoBody, !isChunked else { return nil }
    let lengths = fields.filter { $0.name == "content-length" }.map(\.value)
    if lengths.contains(where: { ContentRange.number($0) == nil }) { return "its Content-Length is not a number" }
    return Set(lengths).count > 1 ? "it declares two lengths" : nil
  }
}

/// Collects the lines of an exchange's heads, up to the end of the final one.
struct HeadReader {
  /// The most bytes of all heads of an exchange.
  private static let mostBytes = 256 << 10

  /// The last head; an interim one, such as `100 Continue`, is replaced by the next.
  private(set) var head: ResponseHead?
  /// Whether all lines of the final head have come.
  private(set) var isWhole = false
  /// The reason why the head must not be trusted.
  private(set) var flaw: String?
  private var bytes = 0

  /// Whether the final head has begun, and not an interim one.
  var isFinal: Bool { head.map { $0.status >= 200 } ?? false }

  /// Reads a line with its end; `mindsLength` is whether the end of the body must be certain.
  mutating func read(_ line: Substring, mindsLength: Bool) {
    bytes += line.utf8.count
    guard bytes <= Self.mostBytes else {
      flaw = Self.tooLong
      return
    }
    if line.hasPrefix("HTTP/"), let next = ResponseHead(statusLine: line) {
      (head, isWhole) = (next, false)
    } else if !isWhole {
      head?.append(line: line)
    }
    // Fields after a body of no bytes may follow the end.
    guard !isWhole, isFinal, line.allSatisfy(\.isNewline) else { return }
    isWhole = true
    if mindsLength { flaw = head?.flaw }
  }

  /// The flaw of a head with more than is read; libcurl reads at most 100 kB in a line.
  static let tooLong = "its head has more than 100 kB in a line, or 256 kB in all"
}

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

/// Parses dates of HTTP header fields.
package enum HTTPDate {
  /// Seconds since 1970; nil if the text is not a date.
  package static func seconds(_ text: String) -> Int64? {
    let seconds = curl_getdate(text, nil)
    return seconds >= 0 ? Int64(seconds) : nil
  }

  /// The seconds since 1970 of this machine's clock.
  package static func now() -> Int64 { Int64(time(nil)) }
}

extension ResponseHead {
  /// The delay that `Retry-After` asks for, at most 24 hours; nil without a readable value.
  ///
  /// A date counts from the server's own `Date`, so that a wrong clock on either side does no harm. `now`, this machine's
  /// clock in seconds since 1970, is for a server that sends no `Date`.
  package func retryAfter(now: Int64) -> Duration? {
    guard let text = self["retry-after"] else { return nil }
    let longest: Int64 = 24 * 3600
    if let seconds = ContentRange.number(text) { return .seconds(min(seconds, longest)) }
    // The number is larger than an Int64.
    if !text.isEmpty, text.allSatisfy(\.isWholeNumber) { return .seconds(longest) }
    guard let then = HTTPDate.seconds(text) else { return nil }
    return .seconds(min(max(0, then - (self["date"].flatMap(HTTPDate.seconds) ?? now)), longest))
  }
}
