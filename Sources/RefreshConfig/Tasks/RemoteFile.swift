import RefreshAPI

/// A file on a server and its path on this machine, with the files that authorize the request.
public struct RemoteFile: Hashable, Sendable {
  /// The whole URL, which may contain secrets.
  public var url: String
  /// The path of the file on this machine, absolute.
  public var target: String
  /// The path of a file with header fields for the request, one line `Name: value` each, absolute; nil for none.
  public var headersFile: String?
  /// The path of a file with a line `user:password`, absolute; nil for none.
  public var credentialFile: String?
  /// Whether user and password come from the owner's `~/.netrc`.
  public var usesNetrc: Bool

  /// The URL without its secrets: user, password and query.
  public var shownURL: String {
    do throws(Unreadable) { return try HTTPURL(url).shown } catch { return "?" }
  }
}

/// Reads the keys of a task's table. Paths may begin with `~/` until the owner is known.
extension RemoteFile {
  /// A valid table for a key.
  static func example(_ key: String) -> String {
    #"\#(key) = { url = "https://example.org/feed.xml", to = "/srv/feed.xml" }"#
  }

  /// The stand-in for a file with refused keys, so that the other keys of its table are read.
  static let unreadable = RemoteFile(url: "", target: "", usesNetrc: false)

  /// Reads the keys; nil if the target is missing or refused.
  init?(from table: inout Section, of key: String) {
    let url = table.read("url", .text("https://example.org/feed.xml", HTTPURL.init(_:)))
    let target = table.read("to", Self.path("/srv/feed.xml", suffix: TargetPath.fetchSuffix))
    headersFile = table.read("headers_file", Self.path("~/.config/feed.headers"))
    credentialFile = table.read("credential_file", Self.path("~/.config/feed.credential"))
    usesNetrc = table.read("netrc", .boolean) ?? false
    for (missing, reason) in [("url", "without a URL"), ("to", "without a path to put it")]
    where !table.isWritten(missing) {
      table.refuse(missing, "cannot fetch \(reason)", remedy: "write for example \(Self.example(key))")
    }
    if usesNetrc, table.isWritten("credential_file") {
      table.refuse(
        "netrc", "cannot take user and password from two places", remedy: "write one of netrc and credential_file")
    }
    guard let target else { return nil }
    (self.url, self.target) = (url?.text ?? "", target)
  }

  /// The file with absolute paths for an owner.
  func resolved(for owner: Owner, _ interner: inout Interner) -> RemoteFile {
    var file = self
    file.target = owner.path(of: target)
    file.headersFile = headersFile.map { interner.intern(owner.path(of: $0)) }
    file.credentialFile = credentialFile.map { interner.intern(owner.path(of: $0)) }
    return file
  }

  /// The order for the worker to fetch the file.
  func order(mostBytes: Int64, _ remembered: Wire.FetchOrder.Remembered?) -> Wire.FetchOrder {
    Wire.FetchOrder(
      url: url, to: target, headersFile: headersFile, credentialFile: credentialFile, netrc: usesNetrc,
      mostBytes: mostBytes, remembered: remembered)
  }

  /// The type of a path to secrets or data, which may begin with `~/`; `suffix` is as in ``TargetPath``.
  static func path(_ example: String, suffix: String? = nil) -> ValueType<String> {
    .text(example) { (text) throws(Unreadable) in
      try TargetPath.check(text.hasPrefix("~/") ? String(text.dropFirst(1)) : text, suffix: suffix)
      return text
    }
  }
}
