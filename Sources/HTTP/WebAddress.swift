import CCurl

/// A URL as libcurl parses it, so that checks and requests mean the same server.
package struct WebAddress: Hashable, Sendable {
  /// The most bytes of a URL that is stored.
  package static let longest = 8192

  /// `http` or `https`, in lower case.
  package let scheme: String
  /// The host in lower case, with the port unless it is the scheme's default.
  package let host: String
  /// The whole URL, with user, password and query.
  package let text: String
  /// The user, decoded.
  package let user: String?
  /// The password, decoded.
  package let password: String?

  /// Parses an absolute URL; nil for anything else and for schemes other than http and https.
  package init?(_ text: String) {
    guard let parts = curl_url() else { return nil }
    defer { curl_url_cleanup(parts) }
    guard curl_url_set(parts, CURLUPART_URL, text, 0) == CURLUE_OK else { return nil }
    self.init(parts)
  }

  /// Resolves a reference relative to this URL, such as the value of `Location`.
  package func resolving(_ reference: String) -> WebAddress? {
    guard let parts = curl_url() else { return nil }
    defer { curl_url_cleanup(parts) }
    guard curl_url_set(parts, CURLUPART_URL, text, 0) == CURLUE_OK,
      // Many servers do not encode spaces in `Location`.
      curl_url_set(parts, CURLUPART_URL, reference, UInt32(CURLU_URLENCODE)) == CURLUE_OK
    else { return nil }
    return WebAddress(parts)
  }

  /// Whether both URLs have the same origin, so that credentials for one are good for the other (RFC 6454).
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

/// The redirects from the given URL to the URL that answers.
///
/// libcurl can follow redirects too, but it sends the app's header fields to every host. Credentials are for the first
/// origin only.
package struct Redirects {
  private static let most = 20

  /// The given URL.
  package let first: WebAddress
  /// The URL of the next request.
  package private(set) var here: WebAddress
  private var count = 0

  /// Starts at the given URL.
  package init(from first: WebAddress) {
    self.first = first
    here = first
  }

  /// Whether the next request may carry credentials.
  package var isAtFirstOrigin: Bool { here.hasOrigin(of: first) }

  /// The credentials of the first URL, if the next URL has none and the same origin.
  package var login: HTTPRequest.Login {
    guard isAtFirstOrigin, here.user == nil, let user = first.user else { return .none }
    return .password(name: user, password: first.password ?? "")
  }

  /// Follows a `Location`.
  ///
  /// Throws after 20 redirects, for a redirect from https to http, and for other schemes.
  package mutating func follow(_ location: String) throws(ExchangeFailure) {
    count += 1
    guard count <= Self.most else {
      throw ExchangeFailure(
        kind: .permanent, message: "cannot follow \(first.host): it redirects more than \(Self.most) times")
    }
    guard let next = here.resolving(location), next.scheme == "https" || here.scheme == "http" else {
      throw ExchangeFailure(
        kind: .permanent,
        message:
          "cannot follow \(here.host): only http and https are supported, and no redirect may leave https")
    }
    here = next
  }
}
