import CCurl
import Glibc

/// Parses dates of HTTP header fields.
package enum HTTPDate {
  /// Seconds since 1970; nil if the text is no date.
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
