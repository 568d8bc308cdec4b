import CCurl
import Glibc

/// Points in time as HTTP writes them.
package enum HTTPDate {
  /// Seconds since 1970; nil for what is no date.
  package static func seconds(_ text: String) -> Int64? {
    let seconds = curl_getdate(text, nil)
    return seconds >= 0 ? Int64(seconds) : nil
  }

  /// The seconds since 1970 of this machine's clock.
  package static func now() -> Int64 { Int64(time(nil)) }
}

extension ResponseHead {
  /// What `Retry-After` says, from now; 24 h at most, and nil if it says nothing that can be read.
  ///
  /// A date counts from the server's own `Date`, so that a wrong clock on either side does no harm; `now` is this
  /// machine's, in seconds since 1970, for a server that sends none.
  package func retryAfter(now: Int64) -> Duration? {
    guard let text = self["retry-after"] else { return nil }
    let longest: Int64 = 24 * 3600
    if let seconds = ContentRange.number(text) { return .seconds(min(seconds, longest)) }
    // More digits than a number has room for.
    if !text.isEmpty, text.allSatisfy(\.isWholeNumber) { return .seconds(longest) }
    guard let then = HTTPDate.seconds(text) else { return nil }
    return .seconds(min(max(0, then - (self["date"].flatMap(HTTPDate.seconds) ?? now)), longest))
  }

  /// How many bytes the body has on the wire; nil if only its end will show it.
  package var contentLength: Int64? {
    fields.contains { $0.name == "transfer-encoding" } ? nil : self["content-length"].flatMap(ContentRange.number)
  }

  /// Whether the body is sent in chunks, the last of which says so.
  package var isChunked: Bool { list("transfer-encoding").last?.lowercased() == "chunked" }
}
