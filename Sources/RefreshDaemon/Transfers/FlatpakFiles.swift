import RefreshAPI
import RefreshConfig

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
