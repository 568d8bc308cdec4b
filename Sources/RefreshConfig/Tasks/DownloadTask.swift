import RefreshAPI

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
      else: { "cannot take \(quoted($0)) as a SHA-256" }, remedy: "write 64 hexadecimal digits, as sha256sum does")
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
      }, else: { _ in "cannot take a text that is empty, too long or has control characters" },
      remedy: "write 1 to 255 bytes in one line")
  }
}
