/// What a server is asked for; ``Exchange`` carries it out.
package struct HTTPRequest: Sendable {
  /// What is to be done with what the URL names.
  package enum Method: String, Sendable {
    /// Its content is wanted.
    case get = "GET"
    /// Only what is said about it is wanted.
    case head = "HEAD"
    /// The body is to take its place.
    case put = "PUT"
    /// The body is for it.
    case post = "POST"
    /// The body changes it.
    case patch = "PATCH"
  }

  /// Who the server takes the caller for, beside what the URL itself says.
  package enum Login: Sendable {
    /// Nobody.
    case none
    /// What ~/.netrc says about the host, if anything.
    case netrc
    /// A name and a password, good for the origin of ``HTTPRequest/url`` only.
    case password(name: String, password: String)
  }

  /// The whole URL, which may hold secrets.
  package var url: String
  /// What is to be done with it.
  package var method = Method.get
  /// Lines of the form `Name: value`, which take the place of the standard ones.
  package var headers: [String] = []
  /// Who asks.
  package var login = Login.none
  /// Whether the body may come compressed; it is handed over as it was before.
  package var takesCompressed = false
  /// How many bytes the body has that is sent; nil for none.
  package var bodyLength: Int64?
  /// Whether it may go over a connection that another exchange has left; such a one may be dead, and is then made again.
  package var reusesConnection = true
  /// How long nothing may come or go before the exchange is given up.
  package var stall = Duration.seconds(60)
  /// The most bytes a second, either way; nil for no limit.
  package var maxRate: Int64?

  /// A file with the certificates that are trusted in the place of the system's; nil for those.
  package var caFile: String?
  /// Set for an answer that goes on for as long as the server will.
  package var stream: Stream?

  /// What is bound to an answer without end, in the place of ``HTTPRequest/stall``, once it has begun.
  package struct Stream: Hashable, Sendable {
    /// How long nothing may come; nil for any time.
    ///
    /// A peer that is gone without a word is found out by TCP's own questions all the same, within two minutes.
    package var silence: Duration?

    /// Makes it of its parts.
    package init(silence: Duration?) { self.silence = silence }
  }

  /// Asks for the content of a URL.
  package init(url: String, headers: [String] = []) {
    self.url = url
    self.headers = headers
  }

  /// Whether there is anything to log in with.
  var hasLogin: Bool {
    if case .none = login { return WebAddress(url)?.user != nil }
    return true
  }
}
