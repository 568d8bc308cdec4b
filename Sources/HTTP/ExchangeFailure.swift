import CCurl

/// The reason why an exchange did not bring a complete response.
package struct ExchangeFailure: Error, Sendable {
  /// Whether a retry may succeed.
  package enum Kind: Hashable, Sendable {
    /// The network or the server failed, or a timeout passed: a retry may succeed.
    case temporary
    /// The request is wrong, or needs something that is missing: a retry fails again.
    case permanent
  }

  /// Whether a retry may succeed.
  package let kind: Kind
  /// The error and the host, in one line without secrets.
  package let message: String
  /// Whether nothing came from the server: it is down, or the network does not reach it.
  package let isSilence: Bool

  /// Makes a failure.
  package init(kind: Kind, message: String, isSilence: Bool = false) {
    self.kind = kind
    self.message = message
    self.isSilence = isSilence
  }
}

extension ExchangeFailure {
  /// Makes a failure from libcurl's code and its error message.
  ///
  /// `isReading` is whether a head was expected and was not complete.
  init(code: CURLcode, detail: String, host: String, isReading: Bool = false) {
    // libcurl's messages name hosts, ports and certificates, and never the path or the query of a URL.
    let why = detail.isEmpty ? String(cString: curl_easy_strerror(code)) : detail
    switch code {
    // libcurl keeps a line of the head in memory, and reports a line that is too long as a lack of memory.
    case _ where isReading && (code == CURLE_OUT_OF_MEMORY || code.rawValue == Self.tooLarge):
      self = .unusable(HeadReader.tooLong, of: host)
    case CURLE_UNSUPPORTED_PROTOCOL where isReading: self = .unusable("it is not HTTP", of: host)
    case CURLE_URL_MALFORMAT: self.init(kind: .permanent, message: "cannot read the URL: \(why); correct it")
    case CURLE_UNSUPPORTED_PROTOCOL:
      self.init(kind: .permanent, message: "cannot ask \(host): only http and https are supported")
    case CURLE_SSL_CACERT_BADFILE:
      self.init(
        kind: .permanent,
        message: "cannot read the file of trusted certificates; see CURL_CA_BUNDLE and SSL_CERT_FILE")
    case CURLE_LOGIN_DENIED: self.init(kind: .permanent, message: "cannot log in to \(host)")
    case CURLE_COULDNT_RESOLVE_HOST: self.init(kind: .temporary, message: "cannot find the host \(host)")
    case CURLE_COULDNT_RESOLVE_PROXY: self.init(kind: .temporary, message: "cannot find the proxy to \(host)")
    case CURLE_COULDNT_CONNECT: self.init(kind: .temporary, message: "cannot connect to \(host)", isSilence: true)
    case CURLE_PEER_FAILED_VERIFICATION:
      self.init(kind: .temporary, message: "cannot trust the certificate of \(host): \(why)")
    case CURLE_OPERATION_TIMEDOUT:
      self.init(kind: .temporary, message: "cannot connect to \(host) in time", isSilence: true)
    case CURLE_PARTIAL_FILE, CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_GOT_NOTHING, CURLE_HTTP2, CURLE_HTTP2_STREAM:
      self.init(kind: .temporary, message: "the connection to \(host) broke: \(why)")
    default: self.init(kind: .temporary, message: "cannot complete the request to \(host): \(why)")
    }
  }

  /// libcurl's code for a line of a head that is too long, since 8.6 (`CURLE_TOO_LARGE`).
  static let tooLarge: UInt32 = 100

  /// The failure of an answer that cannot be read or trusted.
  static func unusable(_ why: String, of host: String) -> ExchangeFailure {
    ExchangeFailure(kind: .temporary, message: "cannot use the answer of \(host): \(why)")
  }

  /// The failure of an exchange in which nothing was received or sent for this time.
  static func stalled(_ host: String, after time: Duration) -> ExchangeFailure {
    ExchangeFailure(
      kind: .temporary, message: "nothing came from \(host) for \(time.components.seconds) s", isSilence: true)
  }
}
