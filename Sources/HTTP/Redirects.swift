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
          "cannot follow \(here.host): only http and https are spoken, and no redirect leads from https to http")
    }
    here = next
  }
}
