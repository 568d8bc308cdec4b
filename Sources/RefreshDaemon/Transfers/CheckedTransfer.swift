import RefreshAPI
import RefreshConfig
import RefreshEngine
import RefreshStore

/// A checked request for a transfer: every field is valid and fits the others.
struct CheckedTransfer {
  /// An invalid field of a request, with the reason and the remedy.
  struct Refusal: Error {
    let field: String
    let reason: String
    let remedy: String
  }

  /// The most bytes of a name, a description or a notice.
  static let longestText = 255
  private static let longestNotice = 1_000
  /// The most bytes that a file or a rate may have.
  private static let mostBytes: Int64 = 1 << 60

  let request: TransferRequest
  private let session: String
  private let host: String
  private let network: NetworkConstraint
  private let priority: Int32

  init(_ asked: Wire.Request) throws(Refusal) {
    let url = try Self.read("url") { () throws(Unreadable) in try HTTPURL(asked.url) }
    let suffix = asked.direction == .upload ? nil : TargetPath.transferSuffix
    try Self.read("path") { () throws(Unreadable) in try TargetPath.check(asked.path, suffix: suffix) }
    var request = TransferRequest(asked.direction == .upload ? .upload : .download, url: asked.url, path: asked.path)
    host = url.host
    session = try Self.name(asked.session) ?? "default"
    request.description = try Self.text(asked.description, "description", most: Self.longestNotice)
    request.notice = try Self.text(asked.notify, "notify", most: Self.longestNotice)
    request.sha256 = try Self.digest(asked.sha256)
    request.length = try Self.number(asked.length, "length", within: 0...Self.mostBytes)
    request.maxRate = try Self.number(asked.maxRate, "max_rate", within: 1...Self.mostBytes)
    network = asked.network.map(NetworkConstraint.init) ?? .unmetered
    priority = Int32(try Self.number(asked.priority, "priority", within: -100...100) ?? 0)
    request.headersFile = try Self.path(asked.headersFile, "headers_file")
    request.credentialFile = try Self.path(asked.credentialFile, "credential_file")
    request.usesNetrc = asked.netrc ?? false
    request.isTus = try Self.forUpload(asked.tus ?? false, "tus", request)
    request.isPost = try Self.isPost(asked.method, request)
    if request.credentialFile != nil, request.usesNetrc {
      throw Refusal(
        field: "netrc", reason: "cannot read user and password from two files", remedy: "leave one of them out")
    }
    self.request = request
  }

  /// The policy for the engine; `now` is the boot clock's time.
  func policy(of app: AppID, at now: Instant) -> TransferPolicy {
    TransferPolicy(
      session: TransferSession(app: app, name: session), host: host, network: network, priority: priority,
      enqueuedAt: now)
  }

  private static func read<Value>(_ field: String, _ body: () throws(Unreadable) -> Value) throws(Refusal) -> Value {
    do throws(Unreadable) { return try body() } catch {
      throw Refusal(field: field, reason: error.message, remedy: error.remedy)
    }
  }

  private static func text(_ text: String?, _ field: String, most: Int) throws(Refusal) -> String? {
    guard let text else { return nil }
    guard (1...most).contains(text.utf8.count), text.unicodeScalars.allSatisfy(\.isText) else {
      throw Refusal(
        field: field, reason: "cannot use a text that is empty, longer than \(most) bytes or has control characters",
        remedy: "write 1 to \(most) bytes without control characters")
    }
    return text
  }

  /// The name of a session, which becomes a variable of the app's tasks.
  private static func name(_ text: String?) throws(Refusal) -> String? {
    let name = try Self.text(text, "session", most: longestText)
    guard name?.unicodeScalars.allSatisfy(\.isPrintable) ?? true else {
      throw Refusal(
        field: "session", reason: "cannot use a name that has format characters", remedy: "leave them out")
    }
    return name
  }

  private static func path(_ path: String?, _ field: String) throws(Refusal) -> String? {
    guard let path else { return nil }
    try read(field) { () throws(Unreadable) in try TargetPath.check(path) }
    return path
  }

  private static func number(
    _ number: Int64?, _ field: String, within range: ClosedRange<Int64>
  ) throws(Refusal) -> Int64? {
    guard let number else { return nil }
    guard range.contains(number) else {
      throw Refusal(
        field: field, reason: "cannot use \(number)",
        remedy: "write a number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  private static func digest(_ digest: String?) throws(Refusal) -> String? {
    guard let digest else { return nil }
    guard digest.utf8.count == 64, digest.allSatisfy({ $0.isASCII && $0.isHexDigit }) else {
      throw Refusal(
        field: "sha256", reason: "cannot read this as a SHA-256",
        remedy: "write 64 hexadecimal digits, as sha256sum prints them")
    }
    return digest.lowercased()
  }

  private static func isPost(_ method: String?, _ request: TransferRequest) throws(Refusal) -> Bool {
    switch method {
    case nil, "PUT": return try forUpload(method != nil, "method", request) && false
    case "POST" where request.isTus:
      throw Refusal(
        field: "method", reason: "cannot choose the method of an upload by tus", remedy: "leave the method out")
    case "POST": return try forUpload(true, "method", request)
    case .some:
      throw Refusal(field: "method", reason: "cannot send a file with this method", remedy: "write PUT or POST")
    }
  }

  private static func forUpload(_ isAsked: Bool, _ field: String, _ request: TransferRequest) throws(Refusal) -> Bool {
    guard !isAsked || request.direction == .upload else {
      throw Refusal(
        field: field, reason: "cannot use this for a download",
        remedy: "leave it out, or write \"upload\" as the direction")
    }
    return isAsked
  }
}

/// The files that a Flatpak may name in its transfers: its own folder, and the documents that its user has opened for it.
///
/// refresh-worker opens them with the same bounds, because the Flatpak can plant links in its folder at any time.
struct FlatpakFiles: Hashable {
  /// A request that a sandboxed app may not make, with the remedy.
  struct Denied: Error {
    let remedy: String
  }

  /// The id of the Flatpak.
  let id: String
  /// Its folder outside the sandbox, `~/.var/app/ID`.
  ///
  /// The Flatpak may replace what is in it, but not the folder.
  let folder: String
  /// The documents with the rights of this Flatpak, which the document portal checks.
  let documents: String
  /// All documents, as the Flatpak sees its own.
  private let portal: String

  init(of id: String, home: String, runtimeDirectory: String) {
    self.id = id
    folder = "\(home)/.var/app/\(id)"
    portal = "\(runtimeDirectory)/doc"
    documents = "\(portal)/by-app/\(id)"
  }

  /// The request with the paths that its files have outside the sandbox.
  func translated(_ request: Wire.Request) throws(Denied) -> Wire.Request {
    guard request.netrc != true else {
      throw Denied(remedy: "A sandboxed app has no ~/.netrc: give a credential_file in its own folder.")
    }
    guard request.priority ?? 0 <= 0 else {
      throw Denied(remedy: "A sandboxed app may give a priority of 0 at most; a person may raise it.")
    }
    return Wire.Request(
      url: request.url, path: try outside(request.path, "path"), direction: request.direction,
      session: request.session, description: request.description, sha256: request.sha256, length: request.length,
      network: request.network, priority: request.priority, maxRate: request.maxRate, method: request.method,
      tus: request.tus,
      headersFile: try request.headersFile.map { (path) throws(Denied) in try outside(path, "headers_file") },
      credentialFile: try request.credentialFile.map { (path) throws(Denied) in try outside(path, "credential_file") },
      notify: request.notify)
  }

  private func outside(_ path: String, _ field: String) throws(Denied) -> String {
    let names = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { String($0) ?? "" }
    let isNormal = !names.dropFirst().contains { ["", ".", ".."].contains($0) }
    for kind in ["data", "cache", "config"] where isNormal {
      if let rest = path.rest(after: "/var/\(kind)/") ?? path.rest(after: "\(folder)/\(kind)/") {
        return "\(folder)/\(kind)/\(rest)"
      }
    }
    let document =
      path.rest(after: "\(documents)/") ?? path.rest(after: "/run/flatpak/doc/") ?? path.rest(after: "\(portal)/")
    if isNormal, let document, document.contains("/"), !document.utf8.starts(with: "by-app/".utf8),
      !names.contains(where: { $0.utf8.starts(with: ".xdp-".utf8) })
    {
      return "\(documents)/\(document)"
    }
    throw Denied(
      remedy: "Give as \(field) a file below /var/data, /var/cache or /var/config, or a document that the user opened.")
  }
}

extension String {
  /// The rest after a prefix, byte for byte; nil if it begins otherwise.
  fileprivate func rest(after prefix: String) -> String? {
    utf8.starts(with: prefix.utf8) ? String(utf8.dropFirst(prefix.utf8.count)) : nil
  }
}

/// A URL without its secrets.
enum ShownURL {
  /// The public part of a URL: without user, password and query.
  static func of(_ url: String) -> String {
    do throws(Unreadable) { return try HTTPURL(url).shown } catch { return "?" }
  }
}
