/// A file of a server and its place on this machine, with what it takes to get it.
public struct RemoteFile: Hashable, Sendable {
  /// The whole URL, which may hold secrets.
  public let url: String
  /// The absolute path of the file on this machine.
  public let target: String
  /// The absolute path of a file with lines `Name: value` that are sent along; nil for none.
  public let headersFile: String?
  /// The absolute path of a file with a line `user:password`; nil for none.
  public let credentialFile: String?
  /// Whether user and password come from `~/.netrc` of the owner.
  public let usesNetrc: Bool

  /// The URL as it may be shown: without user and password, and without what its query says.
  public var shownURL: String {
    do throws(Unreadable) { return try HTTPURL(url).shown } catch { return "?" }
  }
}

/// The keys that say it.
struct RemoteFileSection {
  private var url: HTTPURL?
  /// The path of the file as it is written.
  private(set) var target: String?
  private var headersFile: String?
  private var credentialFile: String?
  private var usesNetrc = false

  /// A line that would be right.
  static func example(_ key: String) -> String {
    #"\#(key) = { url = "https://example.org/feed.xml", to = "/srv/feed.xml" }"#
  }

  /// Takes the keys out of the table of a task.
  init(from table: inout Section, of key: String) {
    url = table.takeText("url", example: "https://example.org/feed.xml") { (text) throws(Unreadable) in
      try HTTPURL(text)
    }
    target = table.takeText("to", example: "/srv/feed.xml", Self.path)
    headersFile = table.takeText("headers_file", example: "~/.config/feed.headers", Self.path)
    credentialFile = table.takeText("credential_file", example: "~/.config/feed.credential", Self.path)
    usesNetrc = table.takeBoolean("netrc") ?? false
    for (missing, what) in [("url", "without a URL"), ("to", "without a path to put it")]
    where !table.isWritten(missing) {
      table.refuse(
        missing, Unreadable(message: "cannot fetch \(what)", remedy: "write for example \(Self.example(key))"))
    }
    if usesNetrc, table.isWritten("credential_file") {
      table.refuse(
        "netrc",
        Unreadable(
          message: "cannot take user and password from two places", remedy: "write one of netrc and credential_file"))
    }
  }

  /// The file for an owner; nil where a mistake was found.
  func file(for owner: Owner, _ sharing: inout Sharing) -> RemoteFile? {
    guard let url, let target else { return nil }
    return RemoteFile(
      url: url.text, target: owner.path(of: target), headersFile: headersFile.map { sharing.one(owner.path(of: $0)) },
      credentialFile: credentialFile.map { sharing.one(owner.path(of: $0)) }, usesNetrc: usesNetrc)
  }

  /// Checks a path that may begin with `~/`.
  private static func path(_ text: String) throws(Unreadable) -> String {
    try TargetPath.check(text.hasPrefix("~/") ? String(text.dropFirst(1)) : text)
    return text
  }
}
