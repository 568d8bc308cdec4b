import CCurl

/// A URL as libcurl reads it, so that what is judged is what is asked.
package struct WebAddress: Hashable, Sendable {
  /// The most bytes of one that is kept for later.
  package static let longest = 8192

  /// `http` or `https`, in lower case.
  package let scheme: String
  /// The host and, unless it is the scheme's own, the port; in lower case.
  package let host: String
  /// The whole, user, password and query included.
  package let text: String
  /// Who asks, as it was before it was encoded.
  package let user: String?
  /// The password that goes with it, as it was before it was encoded.
  package let password: String?

  /// Reads an absolute URL; nil if it is none or of another scheme than http and https.
  package init?(_ text: String) {
    guard let parts = curl_url() else { return nil }
    defer { curl_url_cleanup(parts) }
    guard curl_url_set(parts, CURLUPART_URL, text, 0) == CURLUE_OK else { return nil }
    self.init(parts)
  }

  /// Reads a reference that is relative to this one, such as the value of `Location`.
  package func resolving(_ reference: String) -> WebAddress? {
    guard let parts = curl_url() else { return nil }
    defer { curl_url_cleanup(parts) }
    guard curl_url_set(parts, CURLUPART_URL, text, 0) == CURLUE_OK,
      // Many servers send a name with a space as it is.
      curl_url_set(parts, CURLUPART_URL, reference, UInt32(CURLU_URLENCODE)) == CURLUE_OK
    else { return nil }
    return WebAddress(parts)
  }

  /// Whether a login for the one is one for the other (RFC 6454).
  package func hasOrigin(of other: WebAddress) -> Bool { scheme == other.scheme && host == other.host }

  private init?(_ parts: OpaquePointer) {
    guard let scheme = Self.part(CURLUPART_SCHEME, of: parts)?.lowercased(), ["http", "https"].contains(scheme),
      let host = Self.part(CURLUPART_HOST, of: parts)?.lowercased(),
      let text = Self.part(CURLUPART_URL, of: parts)
    else { return nil }
    self.scheme = scheme
    let port = Self.part(CURLUPART_PORT, of: parts)
    let standard = scheme == "http" ? "80" : "443"
    self.host = port.map { $0 == standard ? host : "\(host):\($0)" } ?? host
    self.text = text
    user = Self.part(CURLUPART_USER, of: parts, UInt32(CURLU_URLDECODE))
    password = Self.part(CURLUPART_PASSWORD, of: parts, UInt32(CURLU_URLDECODE))
  }

  private static func part(_ part: CURLUPart, of parts: OpaquePointer, _ flags: UInt32 = 0) -> String? {
    var value: UnsafeMutablePointer<CChar>?
    guard curl_url_get(parts, part, &value, flags) == CURLUE_OK, let value else { return nil }
    defer { curl_free(value) }
    return String(cString: value)
  }
}
