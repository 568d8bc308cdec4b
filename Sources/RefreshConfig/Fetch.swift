/// What a task of the built-in kind `http` fetches, and where it puts it.
///
/// A class, because every app holds commands and few of them fetch.
public final class Fetch: Hashable, Sendable {
  /// The most bytes of a body where the file does not say.
  public static let standardMostBytes: Int64 = 100_000_000

  /// The whole URL, which may hold secrets.
  public let url: String
  /// The absolute path of the file that is replaced when there is something new.
  public let target: String
  /// The absolute path of a file with lines `Name: value` that are sent along; nil for none.
  public let headersFile: String?
  /// The absolute path of a file with a line `user:password`; nil for none.
  public let credentialFile: String?
  /// Whether user and password come from `~/.netrc` of the owner.
  public let usesNetrc: Bool
  /// The most bytes of a body, decoded; one that is longer is a failure.
  public let mostBytes: Int64

  init(
    url: String, target: String, headersFile: String?, credentialFile: String?, usesNetrc: Bool, mostBytes: Int64
  ) {
    (self.url, self.target, self.mostBytes) = (url, target, mostBytes)
    (self.headersFile, self.credentialFile, self.usesNetrc) = (headersFile, credentialFile, usesNetrc)
  }

  /// The URL as it may be shown: without user and password, and without what its query says.
  public var shownURL: String {
    do throws(Unreadable) { return try HTTPURL(url).shown } catch { return "?" }
  }

  /// Whether all of the two is equal.
  public static func == (left: Fetch, right: Fetch) -> Bool {
    left === right
      || (left.url, left.target, left.mostBytes) == (right.url, right.target, right.mostBytes)
        && (left.headersFile, left.credentialFile, left.usesNetrc)
          == (right.headersFile, right.credentialFile, right.usesNetrc)
  }

  /// Hashes the URL and the path.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(url)
    hasher.combine(target)
  }
}
