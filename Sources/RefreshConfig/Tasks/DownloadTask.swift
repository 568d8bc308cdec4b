import RefreshEngine

/// The settings of a task of the built-in kind `transfer`; nil for the default of a background transfer.
public struct DownloadTask: Hashable, Sendable {
  /// The session of the transfer.
  public var session: String?
  /// A description for people.
  public var description: String?
  /// The expected SHA-256 of the whole file, 64 hexadecimal digits.
  public var sha256: String?
  /// The network that the transfer needs.
  public var network: NetworkConstraint?
  /// The priority, -100 to 100; transfers with a higher priority go first.
  public var priority: Int32?
  /// The most bytes a second.
  public var maxRate: Int64?
  /// The text of a desktop notification for the owner at the end of the session.
  public var notify: String?

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

  init(
    session: String? = nil, description: String? = nil, sha256: String? = nil, network: NetworkConstraint? = nil,
    priority: Int32? = nil, maxRate: Int64? = nil, notify: String? = nil
  ) {
    (self.session, self.description, self.sha256, self.network) = (session, description, sha256, network)
    (self.priority, self.maxRate, self.notify) = (priority, maxRate, notify)
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
