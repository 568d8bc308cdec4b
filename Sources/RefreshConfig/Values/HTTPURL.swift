/// A checked URL of the scheme `http` or `https`.
///
/// A URL may contain secrets: a password before the host, a token in the query. People see only ``shown``.
public struct HTTPURL: Hashable, Sendable {
  /// The most bytes that a URL may have, more than servers accept.
  public static let longest = 8192

  /// The whole URL, with its secrets.
  public let text: String
  /// The host in lower case, with the port unless it is the scheme's own.
  ///
  /// Limits per host use this text.
  public let host: String
  /// The URL without user, password, query and fragment, such as `https://example.org/feed?…`.
  public let shown: String

  /// Reads a URL.
  ///
  /// The message of a thrown ``Unreadable`` contains only the scheme of the URL, because people see the message.
  public init(_ text: String) throws(Unreadable) {
    guard text.utf8.count <= Self.longest else {
      throw Unreadable("cannot use a URL of \(text.utf8.count) bytes", remedy: "use at most \(Self.longest)")
    }
    guard text.utf8.allSatisfy({ (0x21...0x7e).contains($0) && $0 != UInt8(ascii: "\\") }) else {
      throw Unreadable(
        "cannot use a URL with a space, a backslash, a control character or a letter outside ASCII",
        remedy: "percent-encode it, a space as %20")
    }
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let scheme = parts[0].lowercased()
    guard parts.count == 2, parts[1].hasPrefix("//"), scheme == "http" || scheme == "https" else {
      throw Unreadable(
        parts.count == 2 && parts[1].hasPrefix("//")
          ? "cannot use a URL with the scheme \(quoted(parts[0]))" : "the URL has no scheme",
        remedy: #"write http:// or https:// before the host"#)
    }
    let rest = parts[1].dropFirst(2)
    let authority = rest.prefix { !"/?#".contains($0) }
    let hostAndPort = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? authority
    guard Self.isHostAndPort(hostAndPort) else {
      throw Unreadable(
        "the URL has no valid host", remedy: "write it as in https://example.org:8443/feed.xml")
    }
    self.text = text
    host = Self.server(hostAndPort.lowercased(), standardPort: scheme == "https" ? 443 : 80)
    let local = rest[authority.endIndex...].prefix { $0 != "#" }
    let path = local.prefix { $0 != "?" }
    shown = "\(scheme)://\(hostAndPort)\(path)\(path.endIndex < local.endIndex ? "?…" : "")"
  }

  /// The URL's text with an element added to its path, before its query: `https://example.org/a/fail?b` for `fail`.
  public func below(_ element: String) -> String {
    let whole = text.prefix { $0 != "#" }
    let path = whole.prefix { $0 != "?" }
    return (path.hasSuffix("/") ? path.dropLast() : path) + "/\(element)" + whole[path.endIndex...]
  }

  /// Whether the URL has a user, and perhaps a password.
  public var hasLogin: Bool {
    (text.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false).last ?? "")
      .prefix { !"/?#".contains($0) }.contains("@")
  }

  /// Whether the host is this machine by its name or address.
  var isOfThisMachine: Bool { Self.isThisMachine(host) }

  /// Whether a host, with or without a port, is this machine by its name or address.
  static func isThisMachine(_ host: String) -> Bool {
    let name = host.hasPrefix("[") ? host.dropFirst().prefix { $0 != "]" } : host.prefix { $0 != ":" }
    return name == "localhost" || name.hasPrefix("127.") || name == "::1" || host == "::1"
  }

  /// Whether the text is a host or an address in brackets, with or without a port.
  private static func isHostAndPort(_ text: Substring) -> Bool {
    let host: Substring
    if text.hasPrefix("[") {
      guard let bracket = text.firstIndex(of: "]") else { return false }
      host = text[..<bracket].dropFirst()
      guard host.utf8.contains(UInt8(ascii: ":")),
        host.allSatisfy({ $0.isLetter || $0.isNumber || ":.-_%".contains($0) })
      else {
        return false
      }
      return isPort(text[text.index(after: bracket)...])
    }
    host = text.prefix { $0 != ":" }
    guard !host.isEmpty, host.allSatisfy({ $0.isLetter || $0.isNumber || "-._~%".contains($0) }) else { return false }
    return isPort(text[host.endIndex...])
  }

  /// The normal form of a host and port: without the scheme's own port and without a final dot
  /// (RFC 9110, section 4.2; RFC 3986, section 3.2.2).
  private static func server(_ text: String, standardPort: Int) -> String {
    let colon = text.lastIndex(of: ":").flatMap { text[$0...].contains("]") ? nil : $0 }
    let name = text[..<(colon ?? text.endIndex)]
    let host = name.last == "." && name.count > 1 ? name.dropLast() : name
    guard let port = colon.flatMap({ Int(text[text.index(after: $0)...]) }), port != standardPort else {
      return String(host)
    }
    return "\(host):\(port)"
  }

  private static func isPort(_ text: Substring) -> Bool {
    guard !text.isEmpty else { return true }
    guard text.hasPrefix(":"), let port = text.dropFirst().digits else { return false }
    return (1...65535).contains(port)
  }
}
