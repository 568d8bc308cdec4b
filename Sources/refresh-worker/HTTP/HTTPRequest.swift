/// What a server is asked for; ``Exchange`` carries it out.
struct HTTPRequest: Sendable {
  enum Method: String, Sendable {
    case get = "GET"
    case head = "HEAD"
    case put = "PUT"
    case post = "POST"
    case patch = "PATCH"
  }

  /// Who the server takes the caller for, beside what the URL itself says.
  enum Login: Sendable {
    case none
    /// What ~/.netrc says about the host, if anything.
    case netrc
    /// A name and a password, good for the origin of ``HTTPRequest/url`` only.
    case password(name: String, password: String)
  }

  var url: String
  var method = Method.get
  /// Lines of the form `Name: value`, which take the place of the standard ones.
  var headers: [String] = []
  var login = Login.none
  /// Whether the body may come compressed; it is handed over as it was before.
  var takesCompressed = false
  /// How many bytes the body has that is sent; nil for none.
  var bodyLength: Int64?
  /// Whether it may go over a connection that another exchange has left; such a one may be dead, and is then made again.
  var reusesConnection = true
  /// How long nothing may come or go before the exchange is given up.
  var stall = Duration.seconds(60)
  /// The most bytes a second, either way; nil for no limit.
  var maxRate: Int64?

  /// Whether there is anything to log in with.
  var hasLogin: Bool {
    if case .none = login { return WebAddress(url)?.user != nil }
    return true
  }
}
