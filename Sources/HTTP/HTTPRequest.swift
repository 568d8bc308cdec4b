/// An HTTP request; ``Exchange`` sends it.
package struct HTTPRequest: Sendable {
  /// The method of a request (RFC 9110 section 9.3).
  package enum Method: String, Sendable {
    /// Gets the resource.
    case get = "GET"
    /// Gets the header fields only.
    case head = "HEAD"
    /// Replaces the resource by the body.
    case put = "PUT"
    /// Gives the body to the resource.
    case post = "POST"
    /// Changes the resource by the body.
    case patch = "PATCH"
  }

  /// The credentials, in addition to those in the URL.
  package enum Login: Sendable {
    /// No further credentials.
    case none
    /// The entry of the host in ~/.netrc, if there is one.
    case netrc
    /// A name and a password, for the origin of ``HTTPRequest/url`` only.
    case password(name: String, password: String)
  }

  /// The whole URL, which may contain secrets.
  package var url: String
  /// The method.
  package var method = Method.get
  /// Header fields as lines of the form `Name: value`, which replace libcurl's defaults.
  package var headers: [String] = []
  /// The credentials.
  package var login = Login.none
  /// Whether the server may compress the body by gzip; the handlers get it as it comes (``GzipDecoder``).
  package var takesCompressed = false
  /// The length of the request's body in bytes; nil for no body.
  package var bodyLength: Int64?
  /// Whether to reuse an idle connection; if that one is dead, libcurl sends the request again over a new one.
  package var reusesConnection = true
  /// How long nothing may be received or sent before the exchange fails.
  package var stall = Duration.seconds(60)
  /// How long a server may work on the whole request before it answers; nil for ten times ``stall``.
  ///
  /// TCP keep-alive probes then check whether the peer is still there.
  package var answerTime: Duration?
  /// The limit on bytes a second, in either direction; nil for no limit.
  package var maxRate: Int64?

  /// A file of trusted certificates that replaces the system's; nil for the system's.
  package var caFile: String?
  /// Set for a response without an end, such as an event stream.
  package var stream: StreamLimits?

  /// The limits of a response without an end, which replace ``HTTPRequest/stall`` after the head.
  package struct StreamLimits: Hashable, Sendable {
    /// How long the server may be silent; nil for any time.
    ///
    /// TCP keep-alive probes detect a vanished peer within two minutes in any case.
    package var silence: Duration?

    /// Makes the limits.
    package init(silence: Duration?) { self.silence = silence }
  }

  /// Makes a GET request.
  package init(url: String, headers: [String] = []) {
    self.url = url
    self.headers = headers
  }

  /// Whether the request has credentials.
  var hasLogin: Bool {
    if case .none = login { return WebAddress(url)?.user != nil }
    return true
  }
}
