import RefreshAPI

/// The settings of a task of the built-in kind `replicate`: a one-shot replication between two databases of CouchDB.
///
/// The replicator of a CouchDB does the work and keeps the checkpoints.
public struct Replication: Hashable, Sendable {
  /// A database or a server of CouchDB, with the files for its login.
  public struct Endpoint: Hashable, Sendable {
    /// The URL, without user, password and query.
    public var url: HTTPURL
    /// The path of a file with a line `user:password`, absolute; nil for none.
    public var credentialFile: String?
    /// The path of a file with header fields, one line `Name: value` each, absolute; nil for none.
    public var headersFile: String?

    fileprivate var peer: Wire.ReplicationPeer {
      Wire.ReplicationPeer(url: url.text, credentialFile: credentialFile, headersFile: headersFile)
    }
  }

  /// The database to read.
  public var source: Endpoint
  /// The database to write.
  public var target: Endpoint
  /// The CouchDB whose replicator does the work.
  public var server: Endpoint
  /// Whether the replicator makes the target if it is missing.
  public var createsTarget: Bool
  /// The documents to replicate, as a selector of Mango in JSON; nil for all.
  public var selector: String?

  /// The name under which the store keeps the session that was reported last.
  var pair: String { [source.url.text, target.url.text, selector].compactMap(\.self).joined(separator: " ") }

  /// The order for the worker, with the session that was reported last.
  func order(reported: String?) -> Wire.ReplicationOrder {
    Wire.ReplicationOrder(
      server: server.peer, source: source.peer, target: target.peer, createTarget: createsTarget, selector: selector,
      pair: pair, reported: reported)
  }
}

/// Reads the keys of a task's table. Paths may begin with `~/` until the owner is known.
extension Replication {
  /// A valid table with its key.
  static let example =
    #"replicate = { source = "https://db.example.org/notes", target = "http://localhost:5984/notes" }"#
  /// The most bytes of a selector in JSON.
  private static let longestSelector = 16 << 10

  /// Reads the keys; nil if a database is missing or refused, or if the server is unclear.
  init?(from table: inout Section) {
    let source = Self.database("source", "https://db.example.org/notes", from: &table)
    let target = Self.database("target", "http://localhost:5984/notes", from: &table)
    let server = table.read("server", .text("http://localhost:5984", Self.serverURL))
    let credentialFile = table.read("server_credential_file", RemoteFile.path("~/.config/couchdb.credential"))
    createsTarget = table.read("create_target", .boolean) ?? false
    selector = table.read("selector", Self.selector)
    guard let source, let target else { return nil }
    guard source.url.text != target.url.text else {
      table.refuse("target", "cannot replicate a database into itself", remedy: "write the URL of another database")
      return nil
    }
    let local = [target, source].first { $0.url.isOfThisMachine }
    guard let url = server ?? local?.url.root else {
      if !table.isWritten("server") {
        table.refuse(
          "server", "cannot choose a CouchDB to replicate: neither database is on this machine",
          remedy: #"write the URL of one, as in server = "http://localhost:5984""#)
      }
      return nil
    }
    // The login of a database is also for its server, unless the file has another.
    let same = [target, source].first {
      $0.url.hasOrigin(of: url) && ($0.credentialFile != nil || $0.headersFile != nil)
    }
    self.server = Endpoint(
      url: url, credentialFile: credentialFile ?? same?.credentialFile,
      headersFile: credentialFile == nil ? same?.headersFile : nil)
    (self.source, self.target) = (source, target)
  }

  /// The replication with absolute paths for an owner.
  func resolved(for owner: Owner, _ interner: inout Interner) -> Replication {
    var replication = self
    for peer in [\Replication.source, \.target, \.server] {
      for path in [\Endpoint.credentialFile, \.headersFile] {
        replication[keyPath: peer][keyPath: path] = self[keyPath: peer][keyPath: path].map {
          interner.intern(owner.path(of: $0))
        }
      }
    }
    return replication
  }

  private static func database(_ key: String, _ example: String, from table: inout Section) -> Endpoint? {
    let url = table.read(
      key,
      .text(example) { (text) throws(Unreadable) in try databaseURL(text, credentialKey: "\(key)_credential_file") })
    let credentialFile = table.read("\(key)_credential_file", RemoteFile.path("~/.config/notes.credential"))
    let headersFile = table.read("\(key)_headers_file", RemoteFile.path("~/.config/notes.headers"))
    if !table.isWritten(key) {
      table.refuse(key, "cannot replicate without a \(key)", remedy: "write for example \(Self.example)")
    }
    if credentialFile != nil, headersFile != nil {
      table.refuse(
        "\(key)_headers_file", "cannot log in twice to one database",
        remedy: "use either \(key)_credential_file or \(key)_headers_file")
    }
    return url.map { Endpoint(url: $0, credentialFile: credentialFile, headersFile: headersFile) }
  }

  private static func databaseURL(_ text: String, credentialKey: String) throws(Unreadable) -> HTTPURL {
    let url = try plain(text, credentialKey: credentialKey)
    guard url.lastName != nil else {
      throw Unreadable(
        "the URL has no database name after the host",
        remedy: "write it as in http://localhost:5984/notes")
    }
    return url
  }

  private static func serverURL(_ text: String) throws(Unreadable) -> HTTPURL {
    try plain(text, credentialKey: "server_credential_file")
  }

  /// A URL without a final slash, and without parts that CouchDB would write to its log.
  private static func plain(_ text: String, credentialKey: String) throws(Unreadable) -> HTTPURL {
    let url = try HTTPURL(text)
    guard !url.hasLogin else {
      throw Unreadable(
        "cannot use a user or password in this URL: programs and logs show it",
        remedy: "put user:password in a file with mode 0600, and its path in \(credentialKey)")
    }
    guard !text.contains(where: { "?#".contains($0) }) else {
      throw Unreadable("cannot use a query in the URL of a CouchDB", remedy: "remove it")
    }
    guard text.hasSuffix("/") else { return url }
    return try plain(String(text.dropLast()), credentialKey: credentialKey)
  }

  private static var selector: ValueType<String> {
    ValueType(example: #"{ type = "note" }"#) { (node, _) throws(Unreadable) -> String? in
      guard case .table = node.value else { return nil }
      let text = try node.json()
      guard text.utf8.count <= longestSelector else {
        throw Unreadable(
          "cannot use a selector of \(text.utf8.count) bytes", remedy: "use at most \(longestSelector)")
      }
      return text
    }
  }
}

extension HTTPURL {
  /// The URL between slashes: the scheme, an empty text, the host, and the names of the path.
  private var parts: [Substring] { text.split(separator: "/", omittingEmptySubsequences: false) }

  /// The last name of the path; nil if there is none.
  fileprivate var lastName: Substring? { parts.count > 3 ? parts.last.flatMap { $0.isEmpty ? nil : $0 } : nil }

  /// The URL without the last name of its path; nil if it has none.
  fileprivate var root: HTTPURL? {
    do throws(Unreadable) { return try HTTPURL(parts.dropLast().joined(separator: "/")) } catch { return nil }
  }

  /// Whether both have the same scheme, host and port, so that credentials for one are good for the other.
  fileprivate func hasOrigin(of other: HTTPURL) -> Bool { isPlain == other.isPlain && host == other.host }
}
