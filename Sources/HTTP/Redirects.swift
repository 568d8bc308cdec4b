/// The way from the URL that was given to the one that answers.
///
/// libcurl follows redirects too, and sends header fields of the app to every host on the way; what logs in is for the
/// first origin only.
package struct Redirects {
  private static let most = 20

  /// The URL that was given.
  package let first: WebAddress
  /// Where it has led so far.
  package private(set) var here: WebAddress
  private var count = 0

  /// Begins at the URL that was given.
  package init(from first: WebAddress) {
    self.first = first
    here = first
  }

  /// Whether what logs in may be sent here.
  package var isAtFirstOrigin: Bool { here.hasOrigin(of: first) }

  /// What the first URL said about who asks, where the one that is to be asked says nothing and may know it.
  package var login: HTTPRequest.Login {
    guard isAtFirstOrigin, here.user == nil, let user = first.user else { return .none }
    return .password(name: user, password: first.password ?? "")
  }

  /// Goes on to where a `Location` says.
  ///
  /// Throws for what nobody may be led to: after 20, from https to http, and to other schemes.
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
