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
    for (missing, reason) in [("url", "without a URL"), ("to", "without a path to save to")]
    where !table.isWritten(missing) {
      table.refuse(missing, "cannot fetch \(reason)", remedy: "write for example \(Self.example(key))")
    }
    if usesNetrc, table.isWritten("credential_file") {
      table.refuse(
        "netrc", "cannot read user and password from two files", remedy: "use either netrc or credential_file")
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

/// The settings of a task of the built-in kind `transfer`; nil for the default of a background transfer.
public struct DownloadTask: Hashable, Sendable {
  /// The session of the transfer.
  public var session: String?
  /// A description for people.
  public var description: String?
  /// The expected SHA-256 of the whole file, 64 hexadecimal digits.
  public var sha256: String?
  /// The network that the transfer needs.
  public var network: Wire.NetworkConstraint?
  /// The priority, -100 to 100; transfers with a higher priority go first.
  public var priority: Int32?
  /// The most bytes a second.
  public var maxRate: Int64?
  /// The text of a desktop notification for the owner at the end of the session.
  public var notify: String?
}

extension DownloadTask {
  /// Reads the keys of a task's table.
  init(from table: inout Section) {
    session = table.read("session", Self.line("nightly"))
    description = table.read("description", Self.line("The map of the city"))
    notify = table.read("notify", Self.line("The map is there"))
    let digest = ValueType<String>.text(
      String(repeating: "0", count: 64),
      where: { $0.utf8.count == 64 && $0.allSatisfy { $0.isASCII && $0.isHexDigit } },
      else: { "cannot use \(quoted($0)) as a SHA-256" }, remedy: "write 64 hexadecimal digits, as sha256sum prints them"
    )
    sha256 = table.read("sha256", digest)?.lowercased()
    network = table.read("network", .word(.any))
    priority = table.read("priority", .integer(-100...100, example: 10))
    maxRate = table.read("max_rate", .bytes("1MB"))
  }

  /// The transfer that the worker asks the daemon for.
  func request(for file: RemoteFile) -> Wire.Request {
    Wire.Request(
      url: file.url, path: file.target, session: session, description: description, sha256: sha256, network: network,
      priority: priority.map(Int64.init), maxRate: maxRate, headersFile: file.headersFile,
      credentialFile: file.credentialFile, netrc: file.usesNetrc ? true : nil, notify: notify)
  }

  private static func line(_ example: String) -> ValueType<String> {
    .text(
      example,
      where: { text in
        (1...255).contains(text.utf8.count)
          && text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
      }, else: { _ in "cannot use a text that is empty, too long or has control characters" },
      remedy: "write 1 to 255 bytes on one line")
  }
}
